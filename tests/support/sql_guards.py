"""The ways in which a former owner's write has to be refused, as data: each test of a guarded function runs them all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from leasehold.database import Caller, Database, Row
from tests.support.sql_jobs import empty, enqueue
from tests.support.sql_worker import SqlWorker

Lose = Callable[[Database, SqlWorker, Row], Awaitable[None]]


class Loss(msgspec.Struct, frozen=True):
    """`lose` takes the job from its owner in some way; `reason` is what every later write of that owner is told."""

    name: str
    reason: str
    lose: Lose


async def expire(caller: Caller, job_id: int) -> None:
    """Let the lease run out."""
    await caller.fetch(
        "update leasehold.jobs set lease_expires_at = leasehold.clock() - interval '1 second' where id = $1", job_id
    )


async def _reaped(database: Database, worker: SqlWorker, job: Row) -> None:
    await expire(database, job["job_id"])
    await database.call("reap_jobs")


async def _reaped_and_claimed_again(database: Database, worker: SqlWorker, job: Row) -> None:
    await _reaped(database, worker, job)
    await SqlWorker(database, "another").claim()


async def _claimed_again_by_itself(database: Database, worker: SqlWorker, job: Row) -> None:
    await _reaped(database, worker, job)
    await worker.claim()


async def _running_elsewhere(database: Database, worker: SqlWorker, job: Row) -> None:
    await _reaped(database, worker, job)
    another = SqlWorker(database, "another")
    await another.start(await another.claim())


async def _completed_by_another(database: Database, worker: SqlWorker, job: Row) -> None:
    await _reaped(database, worker, job)
    another = SqlWorker(database, "another")
    await another.complete(await another.claim())


async def _exhausted(database: Database, worker: SqlWorker, job: Row) -> None:
    await database.fetch("update leasehold.jobs set max_attempts = 1 where id = $1", job["job_id"])
    await _reaped(database, worker, job)
    await database.call("retry_job", job["job_id"])
    another = SqlWorker(database, "another")
    await another.fail(await another.claim(), discard=[True])


async def _cancelled(database: Database, worker: SqlWorker, job: Row) -> None:
    await database.call("cancel_job", job["job_id"])


async def _retrying(database: Database, worker: SqlWorker, job: Row) -> None:
    await worker.fail([job])


async def _handed_back(database: Database, worker: SqlWorker, job: Row) -> None:
    await worker.release([job])


async def _forgotten(database: Database, worker: SqlWorker, job: Row) -> None:
    await worker.complete([job])
    await database.execute("delete from leasehold.finished_jobs")


async def _reaped_for_good(database: Database, worker: SqlWorker, job: Row) -> None:
    await database.fetch("update leasehold.jobs set max_attempts = 1 where id = $1", job["job_id"])
    await _reaped(database, worker, job)


async def _too_late(database: Database, worker: SqlWorker, job: Row) -> None:
    await database.fetch("update leasehold.jobs set deadline = leasehold.clock() where id = $1", job["job_id"])
    await database.call("expire_jobs")


LOSSES = [
    Loss("reaped", "taken_by_another_worker", _reaped),
    Loss("reaped and claimed again", "taken_by_another_worker", _reaped_and_claimed_again),
    Loss("claimed again by itself", "taken_by_another_worker", _claimed_again_by_itself),
    Loss("running elsewhere", "taken_by_another_worker", _running_elsewhere),
    Loss("completed by another", "already_completed", _completed_by_another),
    Loss("failed by another", "already_completed", _exhausted),
    Loss("cancelled", "cancelled", _cancelled),
    Loss("retrying", "taken_by_another_worker", _retrying),
    Loss("handed back", "taken_by_another_worker", _handed_back),
    Loss("reaped for good", "taken_by_another_worker", _reaped_for_good),
    Loss("too late", "deadline", _too_late),
    Loss("forgotten", "not_found", _forgotten),
]


async def lost_job(database: Database, worker: SqlWorker, loss: Loss) -> Row:
    """The only job, which this worker held and lost."""
    await empty(database)
    await enqueue(database)
    job = await worker.claim_one()
    await loss.lose(database, worker, job)
    return job


async def foreign_job(database: Database) -> Row:
    """A job that some other worker holds."""
    await enqueue(database)
    return await SqlWorker(database, "holder").claim_one()
