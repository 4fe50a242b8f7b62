from __future__ import annotations

from typing import Any

import pytest
import trio

from leasehold.database import Database
from leasehold.errors import BadInput, WrongState
from tests.sql.workers.commands.test_wake_idle_workers import heard
from tests.support.sql_schedules import create, create_at, definition

DEFAULTS: dict[str, Any] = {
    "enabled": True, "queue": "default", "args": "{}", "priority": 0, "key": None, "metadata": None, "zone": "UTC", "query": None,
    "query_timeout": 30, "query_rows": 10000, "stagger": 0, "batches": None, "missed": "coalesce", "grace": 60,
    "catch_up_limit": 100, "overlap": "allow", "starts_at": None, "ends_at": None, "revision": 1,
    "next_run_at": None, "last_run_at": None, "declared": None, "overridden": [],
}  # fmt: skip


async def test_what_is_not_said_has_its_default(database: Database) -> None:
    row = await create(database)
    assert {name: row[name] for name in DEFAULTS} == DEFAULTS
    assert (row["name"], row["kind"], row["every"], row["updated_by"]) == ("s", "echo", 60, "postgres")
    assert row["planned_from"] == row["anchor"] == row["created_at"]


async def test_null_means_the_default_too(database: Database) -> None:
    row = await create(database, every=60, queue=None, args=None, missed=None, cron=None, priority=None)
    assert {name: row[name] for name in DEFAULTS} == DEFAULTS


async def test_a_new_schedule_waits_to_be_planned_and_says_so(database: Database) -> None:
    assert await heard(database, lambda: create(database)) == ["tick"]
    [due] = await database.call("list_due_schedules")
    assert (due["name"], due["is_planned"]) == ("s", False)


async def test_intervals_may_be_written_out(database: Database) -> None:
    assert (await create(database, "a", every="PT1H30M"))["every"] == 5400
    assert (await create(database, "b", every="2 days 3 seconds"))["every"] == 2 * 86400 + 3


async def test_an_interval_counts_from_its_start(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        row = await create_at(connection, "2030-01-01 12:00Z", starts_at="2030-02-01T00:00:00Z")
    assert row["anchor"] == row["starts_at"]


async def test_a_name_is_there_once(database: Database) -> None:
    await create(database, "Nightly")
    await create(database, "nightly")
    with pytest.raises(WrongState, match="there is a schedule 'nightly' already"):
        await create(database, "nightly")


async def test_of_many_who_make_the_same_one_makes_it(database: Database) -> None:
    refused: list[WrongState] = []

    async def make() -> None:
        try:
            await create(database)
        except WrongState as error:
            refused.append(error)

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(make)
    assert len(refused) == 4


async def test_a_definition_is_an_object(database: Database, subtests: pytest.Subtests) -> None:
    for text in ["[]", "null", '"s"', "3"]:
        with subtests.test(text=text), pytest.raises(BadInput, match="a schedule must be a JSON object"):
            await database.call("create_schedule", text)


async def test_whoever_makes_it_may_be_named(database: Database) -> None:
    [row] = await database.call("create_schedule", definition(), "ada")
    assert row["updated_by"] == "ada"
