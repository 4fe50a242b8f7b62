"""How two of them meet stands in test_unique_races.py."""

from __future__ import annotations

from datetime import UTC, datetime

from leasehold.database import Caller, Database
from tests.support.sql_waits import meet, open_transaction

NOW = datetime(2026, 1, 1, tzinfo=UTC)


async def claim(caller: Caller, **keys: int) -> dict[str, tuple[int, bool]]:
    rows = await caller.call("claim_unique_keys", list(keys), list(keys.values()), NOW)
    assert all(row["since"] == NOW for row in rows)
    return {row["unique_key"]: (row["job_id"], row["is_mine"]) for row in rows}


async def test_free_keys_are_taken_and_others_tell_who_has_them(database: Database) -> None:
    assert await claim(database, b=1) == {"b": (1, True)}
    assert await claim(database, c=2, b=3, a=4) == {"a": (4, True), "b": (1, False), "c": (2, True)}


async def test_a_transaction_that_asks_twice_has_it_already(database: Database) -> None:
    async with open_transaction(database, "one") as one:
        assert await claim(one, a=1) == {"a": (1, True)}
        assert await claim(one, a=2) == {"a": (1, False)}


async def test_a_key_that_is_forgotten_while_somebody_waits_for_it_is_taken(database: Database) -> None:
    await claim(database, a=1)
    answers = await meet(
        database,
        lambda janitor: janitor.execute("delete from leasehold.unique_jobs"),
        lambda connection: claim(connection, a=2, b=2),
    )
    assert answers == {"a": (2, True), "b": (2, True)}


async def test_an_open_transaction_holds_up_those_that_want_the_same_key_and_no_others(database: Database) -> None:
    await claim(database, a=1)
    async with open_transaction(database, "one") as one, open_transaction(database, "two") as two:
        await claim(one, a=2)
        assert await claim(two, b=3) == {"b": (3, True)}
