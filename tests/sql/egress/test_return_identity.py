from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, LeaseLost
from tests.support.sql_identities import add, give_back, take
from tests.support.sql_waits import freeze

LOOK = "select refusals, extract(epoch from cooling_until - leasehold.clock())::float8 as cools from leasehold.egress_identities"


async def test_each_refusal_in_a_row_cools_twice_as_long_and_the_last_one_retires(database: Database) -> None:
    async with database.transaction() as tx:
        await add(tx, cool_seconds=10.0, retire_after=3)
        found: list[tuple[str, int, float]] = []
        for hour in range(3):
            await freeze(tx, f"2026-01-01 0{hour}:00:00+00")
            state = await give_back(tx, await take(tx), "refused")
            [row] = await tx.fetch(LOOK)
            found.append((state, row["refusals"], row["cools"]))
        assert found == [("cooling", 1, 10), ("cooling", 2, 20), ("retired", 3, 40)]


async def test_a_good_answer_ends_the_row(database: Database) -> None:
    async with database.transaction() as tx:
        await add(tx, retire_after=2)
        states: list[str] = []
        for hour, outcome in enumerate(("refused", "fine", "unreachable")):
            await freeze(tx, f"2026-01-01 0{hour}:00:00+00")
            states.append(await give_back(tx, await take(tx), outcome))
        assert states == ["cooling", "ready", "cooling"]


async def test_busy_cools_as_long_as_the_server_asks_and_counts_nothing(database: Database) -> None:
    async with database.transaction() as tx:
        await freeze(tx, "2026-01-01 00:00:00+00")
        await add(tx, cool_seconds=10.0)
        assert await give_back(tx, await take(tx), "busy", 120.0) == "cooling"
        [row] = await tx.fetch(LOOK)
        assert (row["refusals"], row["cools"]) == (0, 120)


async def test_nothing_said_changes_nothing(database: Database) -> None:
    await add(database)
    assert await give_back(database, await take(database)) == "ready"


async def test_it_is_given_back_once(database: Database) -> None:
    await add(database)
    taken = await take(database)
    await give_back(database, taken, "fine")
    with pytest.raises(LeaseLost, match="is over"):
        await give_back(database, taken, "refused")


async def test_an_unknown_outcome_is_refused(database: Database) -> None:
    await add(database)
    with pytest.raises(BadInput, match="'lovely' is no outcome"):
        await give_back(database, await take(database), "lovely")
