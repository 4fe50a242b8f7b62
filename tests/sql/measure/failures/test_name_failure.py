from __future__ import annotations

import json

import pytest

from leasehold.database import Database
from tests.support.sql_jobs import empty

BOOM = {"type": "ValueError", "message": "boom", "place": "shop/jobs.py:42 in charge"}


async def name(database: Database, kind: str | None, error: object) -> str:
    found = await database.call_value("name_failure", kind, json.dumps(error))
    assert isinstance(found, str)
    assert len(found) == 16
    return found


async def test_neither_the_message_nor_the_line_counts(database: Database, subtests: pytest.Subtests) -> None:
    for other in [{"message": "bang"}, {"place": "shop/jobs.py:57 in charge"}, {"traceback": "…"}]:
        await empty(database)
        with subtests.test(other=other):
            assert await name(database, "pay", BOOM) == await name(database, "pay", BOOM | other)


async def test_the_type_and_the_function_count(database: Database, subtests: pytest.Subtests) -> None:
    for other in [{"type": "KeyError"}, {"place": "shop/jobs.py:42 in refund"}]:
        await empty(database)
        with subtests.test(other=other):
            assert await name(database, "pay", BOOM) != await name(database, "pay", BOOM | other)


async def test_the_kind_counts(database: Database) -> None:
    assert len({await name(database, kind, BOOM) for kind in ("pay", "mail", None)}) == 3


async def test_whatever_the_error_holds_it_has_a_fingerprint(database: Database) -> None:
    cases: list[object] = ["plain text", 7, [1], None, {}]
    for error in cases:
        assert await name(database, "pay", error) == await name(database, "pay", {})
