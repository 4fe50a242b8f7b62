from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_kinds import catalogued, declare
from tests.support.sql_worker import SqlWorker


async def test_kinds_are_listed_by_name_and_one_is_found(database: Database) -> None:
    await declare(database, {"kind": "ship"}, {"kind": "charge", "queue": "orders"})
    assert [row["kind"] for row in await database.call("list_kinds")] == ["charge", "ship"]
    assert [row["queue"] for row in await database.call("list_kinds", "charge")] == ["orders"]
    assert await database.call("list_kinds", "nobody") == []


async def test_a_disagreement_names_the_fields_and_counts_the_live_workers_of_that_version(database: Database) -> None:
    await declare(database, {"kind": "charge", "queue": "a", "priority": 1}, version="1")
    await declare(database, {"kind": "charge", "queue": "b", "max_attempts": 3}, version="2")
    await SqlWorker(database).register(kinds=["charge"], app_version="1")
    await SqlWorker(database).register(kinds=["other"], app_version="1")
    [other] = (await catalogued(database, "charge"))["conflicts"]
    assert (other["app"], other["app_version"], other["workers"]) == ("shop:app", "1", 1)
    assert other["fields"] == ["max_attempts", "priority", "queue"]


async def test_versions_that_say_the_same_do_not_disagree(database: Database) -> None:
    await declare(database, {"kind": "charge", "queue": "a"}, version="1")
    await declare(database, {"kind": "charge", "queue": "a"}, version="2")
    assert (await catalogued(database, "charge"))["conflicts"] == []
