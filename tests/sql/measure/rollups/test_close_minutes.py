from __future__ import annotations

from leasehold.database import Database, ReservedConnection
from tests.support.sql_books import books, close, finish, totals
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_waits import freeze, open_transaction
from tests.support.sql_worker import SqlWorker

FLOW = ("arrivals", "starts", "completed", "failed", "cancelled", "retries")


async def work(connection: ReservedConnection) -> None:
    """At noon six jobs come; half a minute later four are claimed; in the next minute they end in all the ways there are."""
    worker = SqlWorker(connection)
    await freeze(connection, "2026-03-01 12:00Z")
    ids = await enqueue_many(connection, [{"kind": "a", "queue": "q"}] * 6)
    await freeze(connection, "2026-03-01 12:00:30Z")
    jobs = await worker.claim(4)
    await freeze(connection, "2026-03-01 12:01:10Z")
    await worker.complete(jobs[:1], ran_for=[8.0])
    await worker.fail(jobs[1:2], discard=[True], ran_for=[4.0])
    await worker.fail(jobs[2:3], ran_for=[2.0])
    await connection.call("cancel_job", ids[5])


async def test_each_minute_tells_what_came_began_and_ended_in_it(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await work(connection)
        assert await close(connection, "2026-03-01 12:02:05Z") == 1440
    assert await books(database, *FLOW) == [
        ("12:00", "q", 6, 4, 0, 0, 0, 0),
        ("12:01", "q", 0, 0, 1, 1, 1, 1),
    ]
    assert await books(database, "run_seconds", "wait_seconds", "last_completed_at is null") == [
        ("12:00", "q", 0.0, 0.0, True),
        ("12:01", "q", 14.0, 62.0 + 66.0, False),
    ]


async def test_ids_that_jump_beyond_all_measure_change_nothing(database: Database) -> None:
    await database.fetch("select setval('leasehold.jobs_id_seq', 9007199254740993)")
    async with database.reserve("clocked") as connection:
        await finish(connection, "2026-03-01 12:00:30Z", count=3)
        await close(connection, "2026-03-01 12:02:05Z")
    assert await books(database, "completed", "run_seconds") == [("12:00", "q", 3, 3.0)]


async def test_doing_it_again_changes_nothing(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await work(connection)
        await close(connection, "2026-03-01 12:02:05Z")
        before = await books(database, *FLOW), tuple(await totals(database))
        assert await close(connection, "2026-03-01 12:02:25Z") == 0
        assert await close(connection, "2026-03-01 12:04:25Z") == 2
    assert (await books(database, *FLOW), tuple(await totals(database))) == before


async def test_a_minute_is_closed_when_it_is_over_and_those_that_still_write_into_it_have_ended(
    database: Database,
) -> None:
    async with database.reserve("clocked") as connection:
        await close(connection, "2026-03-01 12:00:05Z")
        async with open_transaction(database, "late") as late:
            await finish(late, "2026-03-01 12:00:30Z")
            assert await close(connection, "2026-03-01 12:01:05Z") == 0
            await late.execute("commit")
        assert await close(connection, "2026-03-01 12:01:15Z") == 1
    assert await books(database, "completed") == [("12:00", "q", 1)]


async def test_who_takes_longer_than_two_minutes_is_counted_afterwards(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await close(connection, "2026-03-01 12:00:05Z")
        await finish(connection, "2026-03-01 12:00:20Z", 2)
        async with open_transaction(database, "late") as late:
            await finish(late, "2026-03-01 12:00:30Z", 3)
            assert await close(connection, "2026-03-01 12:03:05Z") == 1
            assert await books(database, "completed") == [("12:00", "q", 2)]
            assert await close(connection, "2026-03-01 12:03:30Z") == 0
            await late.execute("commit")
        assert await close(connection, "2026-03-01 12:04:05Z") == 4
        assert await close(connection, "2026-03-01 12:04:15Z") == 0
    assert await books(database, "completed") == [("12:00", "q", 5)]
    assert (await totals(database))["completed"] == 5
    assert sum((await totals(database))["runs"]) == 5


async def test_of_two_at_once_one_does_it(database: Database) -> None:
    await finish(database, "2026-03-01 12:00:20Z")
    async with open_transaction(database, "first") as first, database.reserve("second") as second:
        assert await close(first, "2026-03-01 12:01:05Z") == 1440
        assert await close(second, "2026-03-01 12:01:05Z") is None
        await first.execute("commit")
        assert await close(second, "2026-03-01 12:01:05Z") == 0
    assert (await totals(database))["completed"] == 1


async def test_what_was_interrupted_is_done_by_the_next_one(database: Database) -> None:
    await finish(database, "2026-03-01 12:00:20Z")
    async with open_transaction(database, "killed") as killed:
        await close(killed, "2026-03-01 12:01:05Z")
        await killed.execute("rollback")
        assert await close(killed, "2026-03-01 12:01:15Z") == 1440
    assert (await totals(database))["completed"] == 1


async def test_after_days_without_an_accountant_one_day_is_made_up_for(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await close(connection, "2026-03-01 12:00:05Z")
        await finish(connection, "2026-03-02 12:00Z", run=0.0)
        await finish(connection, "2026-03-04 12:00Z", run=0.0)
        assert await close(connection, "2026-03-05 08:00:05Z") == 1440
    assert await books(database, "completed") == [("12:00", "q", 1)]


async def test_of_very_many_jobs_a_sample_is_timed_and_all_are_counted(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        await close(connection, "2026-03-01 12:00:05Z")
        await finish(connection, "2026-03-01 12:01:30Z", 4000, run=2.0)
        await connection.execute("select setval('leasehold.jobs_id_seq', 800000)")
        await close(connection, "2026-03-01 12:02:05Z")
    has = await totals(database)
    assert has["completed"] == has["arrivals"] == has["starts"] == 4000
    assert 3000 < sum(has["runs"]) < 5000
    assert has["run_seconds"] == 2.0 * sum(has["runs"])
