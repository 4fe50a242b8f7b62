"""Sessions that hold the row of a job in a transaction that they leave open, as people, handlers and lost machines do."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from leasehold.database import Database, ReservedConnection, Row
from tests.support.sql_waits import open_transaction
from tests.support.sql_worker import SqlWorker

Hold = Callable[[ReservedConnection, SqlWorker, Row], Awaitable[object]]


async def _by_locking(holder: ReservedConnection, _worker: SqlWorker, job: Row) -> None:
    await holder.fetch("select from leasehold.jobs where id = $1 for update", job["job_id"])


async def _by_asserting_the_lease(holder: ReservedConnection, worker: SqlWorker, job: Row) -> None:
    await holder.call("assert_lease", job["job_id"], job["attempt"], worker.incarnation)


async def _by_asserting_the_lease_before_a_renewal(holder: ReservedConnection, worker: SqlWorker, job: Row) -> None:
    await _by_asserting_the_lease(holder, worker, job)
    assert await worker.renew([job]) == {}


async def _by_locking_in_a_savepoint(holder: ReservedConnection, worker: SqlWorker, job: Row) -> None:
    await holder.execute("savepoint s")
    await _by_locking(holder, worker, job)


HOLDS: dict[str, Hold] = {
    "locked": _by_locking,
    "lease asserted": _by_asserting_the_lease,
    "lease asserted, then renewed": _by_asserting_the_lease_before_a_renewal,
    "locked in a savepoint": _by_locking_in_a_savepoint,
}


@asynccontextmanager
async def row_held(
    database: Database, worker: SqlWorker, job: Row, hold: Hold = _by_locking
) -> AsyncGenerator[ReservedConnection]:
    """Another session, `holder`, holds the job's row while the block lasts."""
    async with open_transaction(database, "holder") as holder:
        await hold(holder, worker, job)
        yield holder


async def pid_of(connection: ReservedConnection) -> int:
    return (await connection.fetch("select pg_backend_pid()"))[0][0]
