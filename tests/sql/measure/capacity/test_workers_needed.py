from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_books import finish
from tests.support.sql_jobs import pile_up
from tests.support.sql_waits import freeze


async def test_as_many_as_get_through_the_backlog_in_time_and_through_what_comes_meanwhile(database: Database) -> None:
    """A worker of three slots does 2400 jobs an hour; 9600 are there, 7200 come each hour."""
    async with database.reserve("clocked") as connection:
        await finish(connection, "2026-03-01 11:20Z", run=4.5)
        await freeze(connection, "2026-03-01 11:55Z")
        await pile_up(connection, 9600, queue="q")
        await connection.execute("update leasehold.jobs set created_at = created_at - interval '1 h' where id > 1201")
        await freeze(connection, "2026-03-01 12:00Z")
        needed = {hours: await connection.call_value("workers_needed", "q", hours) for hours in (1.0, 2.0, 8.0, 1000.0)}
    assert needed == {1.0: 7, 2.0: 5, 8.0: 4, 1000.0: 4}


async def test_nobody_is_needed_where_nothing_is_to_be_done(database: Database) -> None:
    assert await database.call_value("workers_needed", "nobody") == 0
    await finish(database, "2026-03-01 11:40Z")
    assert await database.call_value("workers_needed", "q") == 0


async def test_nobody_knows_before_a_job_has_ended(database: Database) -> None:
    await pile_up(database, 10, queue="q")
    assert await database.call_value("workers_needed", "q") is None
