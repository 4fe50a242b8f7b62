from __future__ import annotations

from datetime import timedelta

from leasehold.database import Database
from tests.support.sql_waits import freeze, frozen, open_transaction

EVERY = timedelta(seconds=10)


async def test_one_of_all_has_a_turn_each_time(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        for at, is_ours in (("12:00:00", True), ("12:00:09", False), ("12:00:10", True), ("12:00:11", False)):
            await freeze(connection, f"2026-03-01 {at}Z")
            assert await connection.call_value("take_reap_turn", EVERY) is is_ours


async def test_a_round_of_a_reaper_counts_as_a_turn(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        await connection.call("reap_jobs")
        await freeze(connection, "2026-03-01 12:00:09Z")
        assert await connection.call_value("take_reap_turn", EVERY) is False


async def test_a_clock_that_was_set_back_stops_nobody(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        for at in ("13:00", "12:00"):
            await freeze(connection, f"2026-03-01 {at}Z")
            assert await connection.call_value("take_reap_turn", EVERY) is True


async def test_whoever_has_a_turn_right_now_holds_nobody_up(database: Database) -> None:
    async with open_transaction(database, "first") as first:
        await first.execute("set leasehold.frozen_clock = '2026-03-01 12:00Z'")
        assert await first.call_value("take_reap_turn", EVERY)
        await first.execute("commit")
        await first.execute("begin; set leasehold.frozen_clock = '2026-03-01 13:00Z'")
        assert await first.call_value("take_reap_turn", EVERY)
        assert await database.call_value("take_reap_turn", EVERY) is False
