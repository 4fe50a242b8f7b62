from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue
from tests.support.sql_waits import frozen, open_transaction
from tests.support.waiting import eventually


async def test_it_tells_the_time_of_our_clock(database: Database) -> None:
    async with frozen(database, "2030-01-01 12:00Z") as connection:
        (row,) = await connection.call("get_horizon")
    assert (row["at"].isoformat(), row["mark_xid"]) == ("2030-01-01T12:00:00+00:00", None)


async def test_a_transaction_that_has_written_holds_the_horizon_before_every_later_mark_until_it_ends(
    database: Database,
) -> None:
    async with open_transaction(database, "writer") as connection:
        await enqueue(connection)
        (mark,) = await database.call("get_horizon", True)
        await enqueue(database)
        (during,) = await database.call("get_horizon")
        assert during["oldest_xid"] < mark["mark_xid"]
        await connection.execute("commit")

    async def has_moved() -> bool:  # transactions of other databases count, too
        (after,) = await database.call("get_horizon")
        return after["oldest_xid"] > mark["mark_xid"]

    await eventually(has_moved)
