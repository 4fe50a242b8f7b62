"""A worker that was taken for dead comes back, and says so with its heartbeat."""

from __future__ import annotations

from uuid import uuid4

from leasehold.database import Database
from tests.sql.lease.suspects.test_blame_jobs import die, record
from tests.support.sql_jobs import enqueue, enqueue_many
from tests.support.sql_waits import open_transaction
from tests.support.sql_worker import SqlWorker

CRASHES = "select crashes from leasehold.jobs order by id"


async def crashes(database: Database) -> list[int | None]:
    return [row[0] for row in await database.fetch(CRASHES)]


async def frozen(database: Database, jobs: int, name: str = "frozen") -> SqlWorker:
    """A worker whose jobs were taken back, and who says nothing."""
    worker = SqlWorker(database, name)
    await worker.register()
    await enqueue_many(database, [{"kind": "a"}] * jobs)
    await worker.claim()
    await die(database, *range(1, jobs + 1))
    return worker


async def test_its_jobs_have_no_crash_any_more_and_stay_apart(database: Database) -> None:
    worker = await frozen(database, 3)
    assert await crashes(database) == [1, 1, 1]
    await worker.beat()
    assert await crashes(database) == [0, 0, 0]
    assert len(await SqlWorker(database, "another").claim()) == 1


async def test_the_attempt_of_the_one_that_was_charged_stays_charged(database: Database) -> None:
    """Else a job that stops its process again and again would never end."""
    worker = await frozen(database, 1)
    await worker.beat()
    assert await record(database, 1) == ("pending", 1, 0)


async def test_the_crashes_of_others_stay(database: Database) -> None:
    await enqueue(database)
    workers = [SqlWorker(database, name) for name in ("dead", "frozen")]
    for worker in workers:
        await worker.register()
        await worker.claim()
        await die(database, 1)
    assert await crashes(database) == [2]
    await workers[1].beat()
    assert await crashes(database) == [1]


async def test_it_is_excused_once_for_each_loss(database: Database) -> None:
    worker = await frozen(database, 1)
    await SqlWorker(database, "dead").claim()
    await die(database, 1)
    for _ in range(3):
        await worker.beat()
    assert await crashes(database) == [1]
    assert await database.call_value("excuse_jobs", worker.incarnation) == 0


async def test_a_job_that_has_ended_is_left_alone(database: Database) -> None:
    worker = await frozen(database, 1)
    heir = SqlWorker(database, "heir")
    await heir.complete(await heir.claim())
    await worker.beat()
    assert (await database.fetch("select crashes from leasehold.finished_jobs"))[0][0] == 1


async def test_a_job_that_somebody_has_locked_is_left_for_the_next_heartbeat(database: Database) -> None:
    worker = await frozen(database, 2)
    async with open_transaction(database, "owner") as owner:
        await owner.execute("select 1 from leasehold.jobs where id = 1 for update")
        await worker.beat()
        assert await crashes(database) == [1, 0]
    await worker.beat()
    assert await crashes(database) == [0, 0]


async def test_who_is_not_known_has_nothing_to_be_excused(database: Database) -> None:
    assert await database.call_value("excuse_jobs", uuid4()) == 0
