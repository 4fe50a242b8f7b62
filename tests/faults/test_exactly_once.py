"""A worker that is killed at every boundary between two statements of a staged completion."""

from __future__ import annotations

from typing import Any

import pytest

from leasehold import App, Job, RetryPolicy
from leasehold.database import Database
from tests.support.boundary_proxy import BoundaryProxy, Side, boundary_proxied
from tests.support.fault_app import app
from tests.support.fault_audit import check_promises, install_audit
from tests.support.fleet import APP
from tests.support.processes import LeaseholdProcess, StartProcess
from tests.support.waiting import eventually
from tests.support.working import Working, working

pytestmark = pytest.mark.acceptance

MOST_BOUNDARIES = 60


class Killing:
    """A worker process behind a proxy that kills it, and an heir that does what is left."""

    def __init__(self, database: Database, proxy: BoundaryProxy, start: StartProcess, heir: Working) -> None:
        self.database = database
        self.proxy = proxy
        self.heir = heir
        self._start = start

    def victim(self) -> LeaseholdProcess:
        env = {
            "LEASEHOLD_DATABASE_URL": self.proxy.dsn,
            "LEASEHOLD_APP": APP,
            "LEASEHOLD_WORKER_ID": "victim",
            "LEASEHOLD_QUEUES": "victim",
            "LEASEHOLD_SLOTS": "1",
            "LEASEHOLD_NOTIFY": "false",
        }
        process = self._start(["run", "worker", "--log-format", "text"], env)
        self.proxy.strike = process.kill
        return process

    async def kill_after(self, boundary: int) -> tuple[int, bool]:
        """Have a payment made, and its worker killed there; returns its job, and whether there was such a boundary.

        What a dead worker has not heard makes no difference: this is as if it had been killed before the next statement.
        """
        self.proxy.boundaries, self.proxy.at, self.proxy.side = 0, boundary, "after"
        job_id = await self.heir.client.enqueue("pay", {"amount": boundary}, queue="victim", max_attempts=2)
        process = self.victim()

        async def killed_or_done() -> str | None:
            if process.exit_code is not None:
                return "killed"
            return "done" if await self._is_finished(job_id) else None

        was_killed = await eventually(killed_or_done) == "killed"
        process.clean_up()
        await eventually(self._heir_has_finished_all)
        return job_id, was_killed

    async def _heir_has_finished_all(self) -> bool:
        """Leaves the victim's jobs to the heir, whose own leases stay as they are.

        Said more than once: the victim's last commit may arrive, with new jobs, after a statement has begun.
        """
        await self.database.execute(
            "update leasehold.jobs set queue = 'default',"
            " lease_expires_at = case when incarnation is not null then now() - interval '1 s' end where queue = 'victim'"
        )
        await self.database.call("reap_jobs")
        return not await self.database.fetch("select from leasehold.jobs")

    async def _is_finished(self, job_id: int) -> bool:
        rows = await self.database.fetch("select from leasehold.finished_jobs where id = $1", job_id)
        return bool(rows)

    async def payments(self, job_id: int) -> list[str]:
        rows = await self.database.fetch("select what from public.payments where job_id = $1 order by what", job_id)
        return [row["what"] for row in rows]

    async def receipts(self, job_id: int) -> list[tuple[Any, ...]]:
        """Of the link that continued the chain, and of the chain that was started; none twice."""
        rows = await self.database.fetch(
            "select chain_id = $1, args ->> 'payment' from leasehold.all_jobs where kind = 'receipt'"
            " and abs((args ->> 'payment')::bigint) = $1 order by 2",
            job_id,
        )
        return [tuple(row) for row in rows]


async def test_the_users_row_and_the_completion_are_there_once_wherever_the_worker_is_killed(
    database: Database, start_process: StartProcess
) -> None:
    await database.execute("create table public.payments (job_id bigint, amount int, what text)")
    await install_audit(database)
    async with (
        boundary_proxied(database.dsn, "handlers") as proxy,
        working(database.dsn, app, worker_id="heir", queues=["default"], lease_seconds=60.0) as heir,
    ):
        killing = Killing(database, proxy, start_process, heir)
        jobs: list[int] = []
        for boundary in range(1, MOST_BOUNDARIES):
            job_id, was_killed = await killing.kill_after(boundary)
            jobs.append(job_id)
            payments = await killing.payments(job_id)
            assert payments.count("paid") == 1, (boundary, payments)
            assert 1 <= payments.count("prepared") <= 2, (boundary, payments)
            assert await killing.receipts(job_id) == [(False, f"-{job_id}"), (True, f"{job_id}")], boundary
            if not was_killed:
                break
        assert 12 <= len(jobs) < MOST_BOUNDARIES - 1
        print(f"killed after each of {len(jobs) - 1} boundaries")
        receipts = await database.fetch("select id from leasehold.finished_jobs where kind = 'receipt'")
        await check_promises(database, sorted({*jobs, *(row["id"] for row in receipts)}))


@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("runs", ["trio", "asyncio", "thread"])
async def test_the_users_row_and_the_completion_are_there_once_wherever_the_connection_is_cut(
    database: Database, side: Side, runs: Any
) -> None:
    await database.execute("create table public.payments (job_id bigint, amount int, what text)")
    await install_audit(database)
    cutting = App()
    cutting.kind("pay", runs=runs, retry=RetryPolicy(initial=0))(pay_in_thread if runs == "thread" else pay)
    async with (
        boundary_proxied(database.dsn, "handlers") as proxy,
        working(proxy.dsn, cutting, slots=1) as running,
    ):
        jobs: list[int] = []
        for boundary in range(1, MOST_BOUNDARIES):
            proxy.boundaries, proxy.at, proxy.side = 0, boundary, side
            job = await running.run("pay", {"amount": boundary}, max_attempts=3)
            jobs.append(job.id)
            assert job.state == "completed", job.error
            rows = await database.fetch("select what from public.payments where job_id = $1", job.id)
            assert [row["what"] for row in rows].count("paid") == 1, boundary
            if proxy.boundaries < boundary:
                break
        assert 8 <= len(jobs) < MOST_BOUNDARIES - 1
        await check_promises(database, jobs)


async def pay(job: Job, amount: int) -> str:
    async with job.prepare() as tx:
        await tx.execute("insert into public.payments values ($1, $2, 'prepared')", job.id, amount)
    async with job.complete() as tx:
        await tx.execute("insert into public.payments values ($1, $2, 'paid')", job.id, amount)
    return "paid"


def pay_in_thread(job: Job, amount: int) -> str:
    with job.prepare() as tx:
        tx.execute("insert into public.payments values ($1, $2, 'prepared')", job.id, amount)
    with job.complete() as tx:
        tx.execute("insert into public.payments values ($1, $2, 'paid')", job.id, amount)
    return "paid"
