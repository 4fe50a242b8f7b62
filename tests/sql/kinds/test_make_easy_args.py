from __future__ import annotations

import json
from typing import Any

from leasehold.database import Database
from tests.support.sql_kinds import ORDER


async def easy(database: Database, schema: object, args: object) -> bool | None:
    """Whether the path says that they fit; None where the schema says too much for one."""
    rows = await database.fetch(
        "select leasehold.is_easy($2, e.path, e.names) as is_easy from leasehold.make_easy_args($1) e",
        json.dumps(schema), json.dumps(args),
    )  # fmt: skip
    return rows[0]["is_easy"] is True if rows else None


CASES: list[tuple[object, bool]] = [
    ({"order_id": 1}, True),
    ({"order_id": 1, "note": "x"}, True),
    ({"order_id": 1.0}, True),
    ({"order_id": 1.5}, False),
    ({"order_id": "1"}, False),
    ({"order_id": [1]}, False),
    ({"order_id": None}, False),
    ({"note": "x"}, False),
    ({"order_id": 1, "note": None}, False),
    ({"order_id": 1, "more": 1}, False),
]


async def test_flat_schemas_become_a_path(database: Database) -> None:
    for args, fits in CASES:
        assert await easy(database, ORDER, args) is fits


LOOSE = {
    "type": "object",
    "properties": {
        "a": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "b": {"title": "Model"},
        'q"uote': {"type": "boolean"},
    },
    "required": ["b"],
}


ARGS_AND_FITS: list[tuple[object, bool]] = [
    ({"b": {}}, True),
    ({"a": None, "b": 1}, True),
    ({"a": 2, "b": 1}, True),
    ({"a": "2", "b": 1}, False),
    ({}, False),
    ({"b": 1, 'q"uote': True}, True),
    ({"b": 1, 'q"uote': 1}, False),
    ({"b": 1, "other": 1}, True),
]


async def test_a_value_may_be_one_of_several_types_or_any(database: Database) -> None:
    for args, fits in ARGS_AND_FITS:
        assert await easy(database, LOOSE, args) is fits


async def test_a_schema_that_says_more_is_left_to_the_judge(database: Database) -> None:
    cases: list[dict[str, Any]] = [
        {"minimum": 1},
        {"type": "array"},
        {"enum": [1]},
        {"$ref": "#/$defs/x"},
        {"anyOf": [{"type": "integer", "minimum": 1}]},
    ]
    for more in cases:
        schema = {"type": "object", "properties": {"n": {"type": "integer", **more}}}
        assert await easy(database, schema, {"n": 1}) is None


async def test_no_args_are_easy_to_judge(database: Database) -> None:
    assert await easy(database, {"type": "object", "properties": {}, "additionalProperties": False}, {}) is True
    assert await easy(database, {"type": "object", "properties": {}, "additionalProperties": False}, {"a": 1}) is False
