from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, UnknownSource
from tests.support.sources.making import define


async def test_a_source_is_found_by_its_name_and_the_only_one_without(tasks: Database) -> None:
    assert await tasks.call_value("find_source", "worker_tasks", False)
    [row] = await tasks.fetch("select source from leasehold.find_source(null, true)")
    assert row["source"] == "worker_tasks"


async def test_one_that_is_not_there_is_told_with_those_that_are(tasks: Database) -> None:
    with pytest.raises(UnknownSource, match="there is no source 'tasks'; there are worker_tasks"):
        await tasks.call("find_source", "tasks", False)
    await define(tasks, "pgqueuer")
    with pytest.raises(BadInput, match="say which source is meant; there are pgqueuer, worker_tasks"):
        await tasks.call("find_source", None, False)


async def test_without_any_it_says_who_defines_one(database: Database) -> None:
    with pytest.raises(
        UnknownSource, match=r"^there is no source; none is defined .the owner of the schema defines one"
    ):
        await database.call("find_source", None, False)
