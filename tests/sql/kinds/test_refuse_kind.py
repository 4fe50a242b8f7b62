from __future__ import annotations

from typing import Any

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_kinds import declare

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"queu": "a"}, "unknown field 'queu'; known are kind, queue"),
    ({"queue": 5}, "queue must not be of type number"),
    ({"queue": "a,b"}, "queue has a comma"),
    ({"priority": 1.5}, "priority and max_attempts must be whole numbers"),
    ({"max_attempts": 0}, "max_attempts must be from 1"),
    ({"key": "order_id"}, "key must be a place in the args, such as args.order_id, not 'order_id'"),
    ({"key_group": "args."}, "key_group must be a place in the args"),
    ({"timeout": 0}, "timeout must be more than 0 seconds"),
    ({"deadline": -1}, "deadline must be more than 0 seconds"),
    ({"unique": {"by": []}}, "unique.by must be a list"),
    ({"unique": {"window": -1}}, "unique.window must be more than 0"),
    ({"args_schema": []}, "args_schema must not be of type array"),
    ({"checks_args": "no"}, "checks_args must not be of type string"),
]


async def test_what_no_kind_can_want_is_refused(database: Database) -> None:
    for said, complaint in REFUSED:
        with pytest.raises(BadInput) as refused:
            await declare(database, {"kind": "charge", **said})
        assert complaint in str(refused.value)
        assert "kind charge" in str(refused.value)


async def test_a_kind_needs_a_name(database: Database) -> None:
    for nameless in ({}, {"kind": ""}, {"kind": 5}, {"kind": None}):
        with pytest.raises(BadInput):
            await declare(database, nameless)
