from __future__ import annotations

from typing import Any

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, WrongState
from leasehold.moving.sources import READY, load_mapping
from tests.support.sources.making import define_as

JOBS = {"table": "t", "id": "id", "state": "s", "states": {}, "columns": {"kind": "'a'"}}
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
MAPPING = {"refill": [{"columns": {"kind": "'a'"}}]}


async def test_a_source_is_kept_with_who_defined_it(database: Database) -> None:
    assert await database.call_value("define_source", "old", '{"refill": [{"columns": {"kind": "1"}}]}') is True
    [row] = await database.fetch("select defined_by = session_user as is_mine, sealed_at from leasehold.sources")
    assert (row["is_mine"], row["sealed_at"]) == (True, None)
    assert await database.call_value("define_source", "old", '{"refill": [{"columns": {"kind": "2"}}]}') is False


async def test_what_is_refused_changes_nothing(database: Database) -> None:
    with pytest.raises(BadInput, match=r"a mapping needs jobs.*docs/moving-in.md"):
        await define_as(database, "old", {})
    with pytest.raises(BadInput, match="the name of a source must have 1 to 100 bytes"):
        await define_as(database, "", MAPPING)
    assert await database.call("list_sources") == []


async def test_the_mapping_of_a_sealed_source_stays_as_its_guards_know_it(tasks: Database) -> None:
    await tasks.call("seal_source")
    with pytest.raises(WrongState, match="source 'worker_tasks' is sealed"):
        await define_as(tasks, "worker_tasks", MAPPING)
    await tasks.call("seal_source", None, False)
    await define_as(tasks, "worker_tasks", MAPPING)


async def test_a_schema_that_is_not_there_is_refused(database: Database) -> None:
    with pytest.raises(BadInput, match="there is no schema 'nosuch' here"):
        await define_as(database, "old", {**MAPPING, "search_path": "public, nosuch"})
    assert await database.call("list_sources") == []
    await define_as(database, "old", {**MAPPING, "search_path": "public"})


async def test_a_mapping_of_the_wrong_form_is_refused_with_the_place(database: Database) -> None:
    for mapping, complaint in REFUSED:
        with pytest.raises(BadInput) as refused:
            await define_as(database, "old", mapping)
        assert str(refused.value).startswith(complaint)
    with pytest.raises(BadInput, match="a mapping must be a JSON object, not null"):
        await database.call("define_source", "old", None)


async def test_the_ready_mappings_have_the_right_form(database: Database) -> None:
    for name in READY:
        await define_as(database, name, load_mapping(name))
