from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, WrongState
from tests.support.sources.making import define_as

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
