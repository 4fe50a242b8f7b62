from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import trio

from leasehold.database import Database
from leasehold.errors import BadInput
from tests.support.sql_guards import expire
from tests.support.sql_jobs import enqueue, job, states
from tests.support.sql_waits import freeze, open_transaction
from tests.support.sql_work import measured
from tests.support.sql_worker import SqlWorker, frozen_worker
from tests.support.waiting import PATIENCE


async def test_a_renewed_lease_runs_from_now(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await enqueue(connection)
        claimed = await worker.claim(lease=60)
        await freeze(connection, "2026-03-01 12:00:20Z")
        assert await worker.renew(claimed, lease=90, ran_for=[15.0]) == {}
        row = await job(connection, 1)
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert row["lease_expires_at"] == noon + timedelta(seconds=110)
    assert row["heartbeat_at"] == noon + timedelta(seconds=20)
    assert (row["state"], row["started_at"]) == ("running", noon + timedelta(seconds=5))


async def test_a_job_whose_handler_has_not_started_stays_claimed(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    await worker.renew(claimed, ran_for=[None])
    row = await job(database, 1)
    assert (row["state"], row["started_at"]) == ("claimed", None)
    assert row["heartbeat_at"] is not None


async def test_the_start_stays_what_the_first_renewal_said_and_is_never_before_the_claim(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        claimed = await worker.given_all([{"kind": "a"}] * 2)
        await freeze(connection, "2026-03-01 12:00:20Z")
        await worker.renew(claimed, ran_for=[5.0, 1e6])
        first = [(await job(connection, n))["started_at"] for n in (1, 2)]
        await freeze(connection, "2026-03-01 12:00:40Z")
        await worker.renew(claimed, ran_for=[1.0, None])
        assert [(await job(connection, n))["started_at"] for n in (1, 2)] == first
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert first == [noon + timedelta(seconds=15), noon]


async def test_an_expired_lease_that_nobody_has_taken_back_is_renewed(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    await expire(database, 1)
    assert await worker.renew(claimed) == {}
    assert await database.call("reap_jobs") == []


async def test_a_job_that_this_attempt_has_completed_is_not_busy(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given()
    await worker.complete(claimed)
    assert await worker.renew(claimed) == {1: "already_completed"}


async def test_a_locked_job_is_busy_and_does_not_hold_up_its_neighbours(database: Database, worker: SqlWorker) -> None:
    claimed = await worker.given_all([{"kind": "a"}] * 3)
    await database.call("cancel_job", 3)
    async with open_transaction(database, "owner") as owner:
        await owner.fetch("select from leasehold.jobs where id = 2 for update")
        with trio.fail_after(PATIENCE):
            assert await worker.renew(claimed, ran_for=[1.0] * 3) == {2: "busy", 3: "cancelled"}
    assert await states(database) == {1: "running", 2: "claimed", 3: "cancelled"}
    assert await worker.renew(claimed[:2]) == {}


async def test_no_jobs_are_no_refusals(worker: SqlWorker) -> None:
    assert await worker.renew([]) == {}


async def test_renewing_a_running_job_touches_no_index(fresh_database: Database) -> None:
    async with fresh_database.reserve("measured") as connection:
        worker = SqlWorker(connection)
        claimed = await worker.given_all([{"kind": "a", "key": f"k{n}"} for n in range(20)], 20)
        await worker.renew(claimed)
        await connection.execute("begin")
        async with measured(connection) as work:
            assert await worker.renew(claimed, lease=90) == {}
        assert (work.updates, work.hot_updates) == (20, 20)


@pytest.mark.parametrize("leases", [[0.0], [-5.0], [float("nan")], [float("inf")], [1e300], [None], []])
async def test_a_lease_that_does_not_last_is_refused(
    leases: list[float | None], database: Database, worker: SqlWorker
) -> None:
    [held] = await worker.given()
    with pytest.raises(BadInput, match="leases must be one for each job, each more than 0 seconds"):
        await database.call("renew_leases", worker.incarnation, [held["job_id"]], [held["attempt"]], leases, [None])
    assert await worker.renew([held]) == {}
