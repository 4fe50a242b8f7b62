from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from time import monotonic
from uuid import uuid4

import pytest
import trio

from leasehold.actors.attempts.held_job import HeldJob
from leasehold.actors.leases import keeper as keeper_module
from leasehold.actors.leases.keeper import Keeper
from leasehold.actors.leases.watcher import Pulse
from leasehold.actors.supervise import supervise
from leasehold.app.registry import builtin_app
from leasehold.client import Client
from leasehold.database import Database, open_database
from leasehold.errors import ActorFailed, EpochOver
from leasehold.jobs.new_job import NewJob
from tests.support.epochs import FAIL_OVER
from tests.support.held import held_job
from tests.support.sql_guards import expire
from tests.support.waiting import PATIENCE, eventually, until
from tests.support.working import worker_context


class Keeping:
    """A keeper with claimed jobs."""

    def __init__(self, database: Database, renew_seconds: float = 0.3) -> None:
        self.database = database
        self.client = Client(database)
        worker = worker_context(database, lease_seconds=2.5 * renew_seconds, renew_seconds=renew_seconds)
        self.epochs = worker.process.epochs
        self.identity, self.holdings = worker.identity, worker.holdings
        self.incarnation = self.identity.incarnation
        self.pulse = Pulse()
        self.keeper = Keeper(worker, self.pulse)

    async def claim(self, count: int = 1, lease: str = "60 seconds", *, started: bool = True) -> list[HeldJob]:
        """Jobs of the database, claimed and due for renewal."""
        await self.client.enqueue_many([NewJob(kind="echo")] * count)
        now = monotonic()
        rows = await self.database.fetch(
            "select * from leasehold.claim_jobs($1, 'w1', batch => $2, lease => $3::text::interval)",
            self.incarnation,
            count,
            lease,
        )
        claimed = [HeldJob(row, builtin_app().find("echo"), now, 0.0, self.incarnation) for row in rows]
        for held in claimed:
            held.started = now if started else None
        self.holdings.add(claimed)
        return claimed

    async def renew(self) -> None:
        """One round, in this thread."""
        await self.keeper.renew_due(self.database, trio.lowlevel.current_trio_token())
        await trio.testing.wait_all_tasks_blocked()

    async def left(self, held: HeldJob) -> float:
        """Seconds that the database still gives the lease."""
        rows = await self.database.fetch(
            "select extract(epoch from lease_expires_at - clock_timestamp())::float8 from leasehold.jobs where id = $1",
            held.id,
        )
        return rows[0][0]


@asynccontextmanager
async def running(bundle: Keeping) -> AsyncGenerator[None]:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, bundle.keeper)
        yield
        nursery.cancel_scope.cancel()


async def connections(database: Database) -> int:
    rows = await database.fetch(
        "select count(*) from pg_stat_activity where application_name like '%lease keeper' "
        "and datname = current_database()"
    )
    return rows[0][0]


async def test_what_is_due_is_renewed_in_one_statement_and_shown_as_running(database: Database) -> None:
    bundle = Keeping(database, renew_seconds=20.0)
    jobs = await bundle.claim(5)
    unstarted = (await bundle.claim(1, started=False))[0]
    await database.fetch("update leasehold.jobs set lease_expires_at = lease_expires_at - interval '5 s'")
    before = monotonic()
    await bundle.renew()
    after = monotonic()
    assert bundle.keeper.statistics().statements == 1
    assert bundle.keeper.statistics().renewed == 6
    assert {job.id: job.state for job in await bundle.client.jobs.list()} == {
        **{held.id: "running" for held in jobs},
        unstarted.id: "claimed",
    }
    for held in jobs:
        assert before <= held.renew_at - 20 <= after
        assert held.trusted_until - held.renew_at == pytest.approx(60 - 5 - 20)
    leases = await database.fetch("select distinct lease_expires_at - heartbeat_at from leasehold.jobs")
    assert leases == [(timedelta(seconds=60),)]
    await bundle.renew()
    assert bundle.keeper.statistics().statements == 1


async def test_a_handler_that_has_just_started_is_shown_after_a_quarter_of_a_second(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = Keeping(database)
    [held] = await bundle.claim()
    now = [monotonic()]
    monkeypatch.setattr(keeper_module, "monotonic", lambda: now[0])
    held.renew_at = now[0] + 60
    held.started = now[0]
    await bundle.renew()
    assert bundle.keeper.statistics().statements == 0
    now[0] += 0.3
    await bundle.renew()
    assert (await bundle.client.get(held.id)).state == "running"


async def take(database: Database, held: HeldJob) -> None:
    await database.fetch("update leasehold.jobs set lease_expires_at = now() - interval '1 s' where id = $1", held.id)
    await database.call("recover_stale_jobs", 1)


async def test_a_lost_lease_is_told_with_its_reason_in_the_workers_thread(database: Database) -> None:
    bundle = Keeping(database)
    kept, cancelled, taken, done, gone = await bundle.claim(5)
    await bundle.client.cancel(cancelled.id)
    await take(database, taken)
    await take(database, done)
    await database.fetch("update leasehold.jobs set priority = 9 where id = $1", done.id)
    other = uuid4()
    rows = await database.call("claim_jobs", other, "w2")
    assert rows[0]["job_id"] == done.id
    await database.call("complete_jobs", other, [done.id], [rows[0]["attempt"]], [None], [0.0])
    await database.fetch("delete from leasehold.jobs where id = $1", gone.id)
    await bundle.renew()
    assert {held.id: held.lost for held in (kept, cancelled, taken, done, gone)} == {
        kept.id: None,
        cancelled.id: "cancelled",
        taken.id: "taken_by_another_worker",
        done.id: "already_completed",
        gone.id: "not_found",
    }
    assert bundle.keeper.statistics().lost == 4
    statements = bundle.keeper.statistics().statements
    await bundle.renew()
    assert bundle.keeper.statistics().statements == statements


async def test_a_connection_that_outlived_a_failover_ends_no_lease_the_turn_to_the_new_epoch_does(
    database: Database,
) -> None:
    bundle = Keeping(database)
    await bundle.epochs.greet(database)
    bundle.epochs.wait_for_change()
    [gone] = await bundle.claim()
    await database.execute(f"delete from leasehold.jobs where id = {gone.id};{FAIL_OVER}")
    with pytest.raises(EpochOver):
        await bundle.renew()
    assert gone.lost is None
    await until(lambda: bundle.epochs.is_over)


async def test_a_row_that_somebody_has_locked_is_neither_renewed_nor_lost_and_asked_for_again_soon(
    database: Database,
) -> None:
    bundle = Keeping(database)
    [held] = await bundle.claim()
    trusted = held.trusted_until
    async with database.transaction() as transaction:
        await transaction.fetch("select from leasehold.jobs where id = $1 for update", held.id)
        before = monotonic()
        await bundle.renew()
        assert (held.lost, held.trusted_until) == (None, trusted)
        assert before <= held.renew_at - 1 <= monotonic()
    held.renew_at = 0.0
    await bundle.renew()
    assert held.trusted_until > trusted


async def test_a_transaction_that_asserts_its_lease_does_not_keep_it_from_being_renewed(database: Database) -> None:
    bundle = Keeping(database)
    [held] = await bundle.claim()
    trusted = held.trusted_until
    async with database.transaction() as transaction:
        await transaction.call("assert_lease", held.id, held.attempt, bundle.incarnation)
        await bundle.renew()
        assert (held.lost, held.trusted_until > trusted) == (None, True)


async def test_leases_are_kept_for_as_long_as_it_runs_even_through_lost_connections(database: Database) -> None:
    bundle = Keeping(database)
    [held] = await bundle.claim()
    async with running(bundle):
        for _ in range(2):
            renewed = bundle.keeper.statistics().renewed
            await until(lambda renewed=renewed: bundle.keeper.statistics().renewed > renewed)
            await database.fetch(
                "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name like '%lease keeper'"
                " and datname = current_database()"
            )
            await expire(database, held.id)
        renewed = bundle.keeper.statistics().renewed
        await until(lambda: bundle.keeper.statistics().renewed > renewed + 1)
        assert await bundle.left(held) > 0
        assert held.lost is None


def block_until(is_enough: Callable[[], bool]) -> None:
    while not is_enough():
        time.sleep(0.01)


async def test_a_blocked_event_loop_costs_no_lease_and_the_culprit_is_named(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(keeper_module, "BLOCKED_AFTER", 0.3)
    bundle = Keeping(database)
    [held] = await bundle.claim()
    bundle.pulse.is_resting = True  # nobody beats it: the block begins with the only beat
    async with running(bundle):
        await until(lambda: bundle.keeper.statistics().renewed > 0)
        renewed = bundle.keeper.statistics().renewed
        bundle.pulse.stir()
        block_until(
            lambda: bundle.keeper.statistics().renewed > renewed + 2 and bundle.keeper.statistics().loop_blocked > 0
        )
    [told] = [record for record in caplog.records if "blocked the event loop" in record.getMessage()][:1]
    assert f"job {held.id} (echo)" in told.getMessage()
    assert "in block_until" in told.getMessage()
    assert bundle.keeper.statistics().loop_blocked == 1
    assert held.lost is None


async def test_a_cancelled_keeper_leaves_neither_thread_nor_connection(database: Database) -> None:
    bundle = Keeping(database)
    await bundle.claim()
    async with running(bundle):
        await until(lambda: bundle.keeper.statistics().renewed > 0)
        assert await connections(database) == 1

    async def gone() -> bool:
        return await connections(database) == 0

    await eventually(gone)


async def test_a_keeper_that_cannot_do_its_work_ends_the_worker(empty_database_url: str) -> None:
    async with open_database(empty_database_url) as database:
        worker = worker_context(database, renew_seconds=0.1)
        worker.holdings.add([held_job(1, claimed_at=0.0)])
        with trio.fail_after(PATIENCE), pytest.raises(ActorFailed, match="lease keeper failed"):
            await supervise(Keeper(worker, Pulse()))


async def test_a_keeper_that_fails_says_so_while_a_handler_blocks_the_event_loop(
    empty_database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    def has_told() -> bool:
        return any("lease keeper failed" in record.getMessage() for record in list(caplog.records))

    async with open_database(empty_database_url) as database:
        worker = worker_context(database, renew_seconds=0.1)
        with trio.fail_after(PATIENCE), pytest.RaisesGroup(ActorFailed):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(supervise, Keeper(worker, Pulse()))
                await trio.testing.wait_all_tasks_blocked()
                worker.holdings.add([held_job(1, claimed_at=0.0)])
                block_until(has_told)


async def test_it_rests_while_the_worker_holds_no_job_until_it_is_roused(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper_module, "REST_SECONDS", 3600.0)
    bundle = Keeping(database, renew_seconds=7200)
    async with running(bundle):
        await until(lambda: bundle.keeper.is_resting)
        looped_at = bundle.keeper.looped_at
        await bundle.claim()
        assert bundle.keeper.looped_at == looped_at
        bundle.keeper.rouse()
        await until(lambda: bundle.keeper.statistics().renewed >= 1)
        bundle.holdings.clear()
        await until(lambda: bundle.keeper.is_resting)


async def test_a_job_that_rouses_nobody_is_found_at_its_next_look(database: Database) -> None:
    bundle = Keeping(database, renew_seconds=0.6)
    async with running(bundle):
        await until(lambda: bundle.keeper.is_resting)
        await bundle.claim()
        await until(lambda: bundle.keeper.statistics().renewed >= 1)
