from __future__ import annotations

from typing import Any

import msgspec

from leasehold.database import Database
from leasehold.moving.sources import READY, load_mapping

JOBS = {"table": "t", "id": "id", "state": "s", "states": {}, "columns": {"kind": "'a'"}}


async def refuse(database: Database, mapping: Any) -> object:
    [row] = await database.fetch("select leasehold.refuse_mapping($1::jsonb)", msgspec.json.encode(mapping).decode())
    return row[0]


REFUSED: list[tuple[Any, str]] = [
    ([], "a mapping must be a JSON object, not array"),
    ({"job": []}, "unknown field 'job'; known are jobs, schedules,"),
    ({}, "a mapping needs jobs, schedules or refill"),
    ({"jobs": [{**JOBS, "tables": 1}]}, "jobs 1: unknown field 'tables'; known are table, id,"),
    ({"jobs": [{k: v for k, v in JOBS.items() if k != "id"}]}, "jobs 1: id is missing"),
    ({"jobs": [JOBS, {**JOBS, "columns": {}}]}, "jobs 2: columns must name kind"),
    (
        {"schedules": [{"table": "t", "id": "i", "live": "l", "columns": {"kind": "k"}}]},
        "schedules 1: columns must name kind and name",
    ),
    ({"jobs": [{**JOBS, "states": {"new": "ready"}}]}, "jobs 1: the state 'new' means 'ready'; it must be pending"),
    ({"jobs": [{**JOBS, "action": "copy"}]}, "jobs 1: action must be move or cancel, not 'copy'"),
    ({"jobs": [JOBS], "search_path": "a; drop"}, "search_path must be a list of schemas"),
]


async def test_a_mapping_of_the_wrong_form_is_refused_with_the_place(database: Database) -> None:
    for mapping, complaint in REFUSED:
        assert str(await refuse(database, mapping)).startswith(complaint)


async def test_the_ready_mappings_have_the_right_form(database: Database) -> None:
    assert [name for name in READY if await refuse(database, load_mapping(name)) is not None] == []
