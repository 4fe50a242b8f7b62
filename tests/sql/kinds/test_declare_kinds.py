from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_kinds import ORDER, catalogued, declare
from tests.support.sql_waits import freeze, rolled_back
from tests.support.sql_worker import SqlWorker


async def test_what_an_app_says_is_in_the_catalogue(database: Database) -> None:
    said = {
        "queue": "orders", "priority": 3, "max_attempts": 5, "timeout": 30, "deadline": 3600.5, "retry": {"initial": 2.0},
        "unique": {"by": ["args.order_id"]}, "key": "args.order_id", "key_group": "args.note", "args_schema": ORDER,
        "output_schema": {"type": "string"},
    }  # fmt: skip
    assert await declare(database, {"kind": "charge", **said}) == {"charge": "created"}
    shown = await catalogued(database, "charge")
    assert {name: shown[name] for name in said} == said
    assert (shown["app"], shown["app_version"], shown["checks_args"], shown["conflicts"]) == ("shop:app", "1", True, [])


async def test_declaring_the_same_again_changes_nothing(database: Database) -> None:
    await declare(database, {"kind": "charge", "queue": "orders"})
    assert await declare(database, {"kind": "charge", "queue": "orders", "priority": None}) == {"charge": "unchanged"}
    assert await declare(database, {"kind": "charge", "queue": "other"}) == {"charge": "changed"}


async def test_of_two_versions_the_one_that_came_later_wins_whoever_starts_again(database: Database) -> None:
    await declare(database, {"kind": "charge", "queue": "old"}, version="1")
    assert await declare(database, {"kind": "charge", "queue": "new"}, version="2") == {"charge": "changed"}
    assert await declare(database, {"kind": "charge", "queue": "old"}, version="1") == {"charge": "older"}
    shown = await catalogued(database, "charge")
    assert (shown["queue"], shown["app_version"]) == ("new", "2")
    [other] = shown["conflicts"]
    assert (other["app_version"], other["fields"], other["workers"]) == ("1", ["queue"], 0)


async def test_who_says_that_it_is_the_newest_wins_as_after_a_roll_back(database: Database) -> None:
    await declare(database, {"kind": "charge", "queue": "old"}, version="1")
    await declare(database, {"kind": "charge", "queue": "new"}, version="2")
    assert await declare(database, {"kind": "charge", "queue": "old"}, version="1", newest=True) == {
        "charge": "changed"
    }
    assert (await catalogued(database, "charge"))["queue"] == "old"


async def test_a_version_that_nobody_runs_any_more_has_no_say_after_an_hour(database: Database) -> None:
    async with rolled_back(database) as transaction:
        await freeze(transaction, "2026-01-05 12:00:00+00")
        await declare(transaction, {"kind": "charge", "queue": "old"}, version="1")
        await freeze(transaction, "2026-01-05 12:00:01+00")
        await declare(transaction, {"kind": "charge", "queue": "new"}, version="2")
        await freeze(transaction, "2026-01-05 13:00:02+00")
        assert await declare(transaction, {"kind": "charge", "queue": "old"}, version="1") == {"charge": "changed"}
        assert (await catalogued(transaction, "charge"))["conflicts"] == []


async def test_a_version_that_a_live_worker_runs_keeps_its_say(database: Database) -> None:
    async with rolled_back(database) as transaction:
        await freeze(transaction, "2026-01-05 12:00:00+00")
        await declare(transaction, {"kind": "charge", "queue": "old"}, version="1")
        await freeze(transaction, "2026-01-05 12:00:01+00")
        await declare(transaction, {"kind": "charge", "queue": "new"}, version="2")
        await freeze(transaction, "2026-01-05 13:00:02+00")
        await SqlWorker(transaction).register(kinds=["charge"], app_version="2")
        assert await declare(transaction, {"kind": "charge", "queue": "old"}, version="1") == {"charge": "older"}
        shown = await catalogued(transaction, "charge")
        assert (shown["queue"], [each["app_version"] for each in shown["conflicts"]]) == ("new", ["1"])


async def test_a_kind_that_is_refused_leaves_the_whole_catalogue_as_it_was(database: Database) -> None:
    await declare(database, {"kind": "charge", "queue": "orders"})
    with pytest.raises(BadInput, match=r"kind ship: queue has a comma"):
        await declare(database, {"kind": "charge", "queue": "other"}, {"kind": "ship", "queue": "a,b"})
    assert (await catalogued(database, "charge"))["queue"] == "orders"
    with pytest.raises(BadInput, match="kind charge is there twice"):
        await declare(database, {"kind": "charge"}, {"kind": "charge"})
    with pytest.raises(BadInput, match="kinds must be a JSON array"):
        await database.call("declare_kinds", '{"kind": "charge"}')


async def test_kinds_of_another_app_stay(database: Database) -> None:
    await declare(database, {"kind": "charge"}, app="shop:app")
    await declare(database, {"kind": "crawl"}, app="crawler:app")
    assert [row["kind"] for row in await database.call("list_kinds")] == ["charge", "crawl"]
