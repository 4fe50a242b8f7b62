from __future__ import annotations

import trio

from leasehold.database import Database, Row
from tests.support.sql_guards import foreign_job
from tests.support.sql_jobs import empty
from tests.support.sql_waits import freeze, open_transaction, until_waiting
from tests.support.sql_worker import Refusals, SqlWorker, identities, refusals


async def report(
    worker: SqlWorker, jobs: list[Row], fractions: list[float | None], messages: list[str | None] | None = None
) -> Refusals:
    said = messages or [None] * len(jobs)
    return refusals(await worker.caller.call("report_progress", worker.incarnation, *identities(jobs), fractions, said))


async def progress(database: Database, job_id: int = 1) -> tuple[object, ...]:
    (row,) = await database.call("get_job_progress", job_id)
    return row["attempt"], row["fraction"], row["message"]


async def test_the_last_word_counts(database: Database, worker: SqlWorker) -> None:
    jobs = await worker.given()
    assert await report(worker, jobs, [0.25], ["parsing"]) == {}
    assert await progress(database) == (1, 0.25, "parsing")
    assert await report(worker, jobs, [0.5]) == {}
    assert await progress(database) == (1, 0.5, None)


async def test_of_two_words_in_one_call_the_later_counts(database: Database, worker: SqlWorker) -> None:
    (job,) = await worker.given()
    assert await report(worker, [job, job], [0.9, 0.1], ["first", "second"]) == {}
    assert await progress(database) == (1, 0.1, "second")


async def test_a_fraction_out_of_range_is_brought_into_it(database: Database, worker: SqlWorker) -> None:
    cases: list[tuple[float | None, float | None]] = [
        (-1.0, 0.0),
        (1.5, 1.0),
        (float("inf"), 1.0),
        (float("-inf"), 0.0),
        (float("nan"), None),
        (None, None),
    ]
    for said, kept in cases:
        await empty(database)
        await report(worker, await worker.given(), [said], ["x"])
        assert await progress(database) == (1, kept, "x")


async def test_a_long_message_is_cut(database: Database, worker: SqlWorker) -> None:
    await report(worker, await worker.given(), [0.5], ["x" * 1001])
    assert (await progress(database))[2] == "x" * 1000


async def test_one_call_is_for_many_jobs(database: Database, worker: SqlWorker) -> None:
    jobs = await worker.given_all([{"kind": "a"}] * 50, 50)
    assert await report(worker, jobs[::-1], [n / 100 for n in range(50)]) == {}
    assert await progress(database, jobs[49]["job_id"]) == (1, 0.0, None)
    assert await progress(database, jobs[0]["job_id"]) == (1, 0.49, None)


async def test_a_job_of_which_nothing_was_said_has_none(database: Database, worker: SqlWorker) -> None:
    await worker.given()
    assert await report(worker, [], []) == {}
    assert await database.call("get_job_progress", 1) == []


async def test_a_refused_job_keeps_no_other_from_being_written(database: Database, worker: SqlWorker) -> None:
    mine = await worker.given()
    other = await foreign_job(database)
    assert await report(worker, [*mine, other], [0.5, 0.5]) == {2: "taken_by_another_worker"}
    assert await progress(database) == (1, 0.5, None)


async def test_the_next_attempt_says_its_own(database: Database, worker: SqlWorker) -> None:
    first = await worker.given()
    await report(worker, first, [0.9])
    await worker.fail(first, retry_in=[0.0])
    assert await progress(database) == (1, 0.9, None)
    await report(worker, await worker.claim(), [0.1])
    assert await progress(database) == (2, 0.1, None)


async def test_what_was_said_last_stays_when_the_job_has_ended(database: Database, worker: SqlWorker) -> None:
    jobs = await worker.given()
    await report(worker, jobs, [1.0], ["done"])
    await worker.complete(jobs)
    assert await progress(database) == (1, 1.0, "done")


async def test_a_late_word_of_an_earlier_attempt_changes_nothing(database: Database, worker: SqlWorker) -> None:
    """It is read while its attempt holds the job, and written after the next attempt has spoken."""
    first = await worker.given()
    await report(worker, first, [0.1])

    async def say_late() -> None:
        async with database.reserve("late") as connection:
            await report(worker.over(connection), first, [0.9])

    async with trio.open_nursery() as nursery, open_transaction(database, "next") as connection:
        await worker.over(connection).fail(first, retry_in=[0.0])
        await report(worker.over(connection), await worker.over(connection).claim(), [0.2])
        nursery.start_soon(say_late)
        await until_waiting(database, "late")
        await connection.execute("commit")
    assert await progress(database) == (2, 0.2, None)


async def test_a_word_that_was_overtaken_changes_nothing(database: Database, worker: SqlWorker) -> None:
    """The scribe's call has begun when the settler writes the last word of the job that ends."""
    jobs = await worker.given()
    async with database.reserve("scribe") as scribe, database.reserve("settler") as settler:
        await freeze(scribe, "2030-03-01 12:00Z")
        await freeze(settler, "2030-03-01 12:01Z")
        assert await report(worker.over(settler), jobs, [1.0], ["done"]) == {}
        assert await report(worker.over(scribe), jobs, [0.3]) == {}
    assert await progress(database) == (1, 1.0, "done")
