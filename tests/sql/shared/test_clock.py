from __future__ import annotations

from datetime import UTC, datetime, timedelta

from leasehold.database import Database
from tests.support.sql_waits import freeze


async def test_it_is_the_wall_clock_and_moves_within_a_transaction(database: Database) -> None:
    async with database.transaction() as transaction:
        times = [(await transaction.fetch("select leasehold.clock()"))[0][0] for _ in range(3)]
        assert times == sorted(set(times))
        assert abs(times[0] - (await transaction.fetch("select now()"))[0][0]) < timedelta(minutes=1)


async def test_a_frozen_clock_stands_still_for_its_session_only(database: Database) -> None:
    then = datetime(2026, 1, 1, tzinfo=UTC)
    async with database.reserve("frozen") as frozen, database.reserve("other") as other:
        await freeze(frozen, "2026-01-01 00:00Z")
        assert [(await frozen.fetch("select leasehold.clock()"))[0][0] for _ in range(2)] == [then, then]
        assert (await other.fetch("select leasehold.clock()"))[0][0] != then
        await frozen.execute("set leasehold.frozen_clock = ''")
        assert (await frozen.fetch("select leasehold.clock()"))[0][0] != then
