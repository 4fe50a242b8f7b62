"""A worker that is killed at every boundary between two statements of a staged completion."""

from __future__ import annotations

from typing import Any

import pytest

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
            "LEASEHOLD_DATABASE_URL": self.proxy.dsn, "LEASEHOLD_APP": APP, "LEASEHOLD_WORKER_ID": "victim",
            "LEASEHOLD_QUEUES": "victim", "LEASEHOLD_SLOTS": "1", "LEASEHOLD_NOTIFY": "false",
        }  # fmt: skip
        process = self._start(["run", "worker", "--log-format", "text"], env)
        self.proxy.strike = process.kill
        return process

    async def kill_at(self, boundary: int, side: Side) -> tuple[int, bool]:
        """Have a payment made, and its worker killed there; returns its job, and whether there was such a boundary."""
        self.proxy.boundaries, self.proxy.at, self.proxy.side = 0, boundary, side
        job_id = await self.heir.client.enqueue("pay", {"amount": boundary}, queue="victim", max_attempts=2)
        process = self.victim()

        async def killed_or_done() -> str | None:
            if process.exit_code is not None:
                return "killed"
            return "done" if await self._is_finished(job_id) else None

        was_killed = await eventually(killed_or_done, timeout=30) == "killed"
        process.clean_up()
        await self.database.fetch("update leasehold.jobs set queue = 'default' where incarnation is null")
        await self.database.execute(
            "update leasehold.jobs set queue = 'default', lease_expires_at = now() - interval '1 s' where incarnation is not null"
        )
        await self.database.call("reap_jobs")
        await eventually(lambda: self._is_finished(job_id))
        return job_id, was_killed

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


@pytest.mark.parametrize("side", ["before", "after"])
async def test_the_users_row_and_the_completion_are_there_once_wherever_the_worker_is_killed(
    database: Database, start_process: StartProcess, side: Side
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
            job_id, was_killed = await killing.kill_at(boundary, side)
            jobs.append(job_id)
            payments = await killing.payments(job_id)
            assert payments.count("paid") == 1, (boundary, payments)
            assert 1 <= payments.count("prepared") <= 2, (boundary, payments)
            assert await killing.receipts(job_id) == [(False, f"-{job_id}"), (True, f"{job_id}")], boundary
            if not was_killed:
                break
        assert 12 <= len(jobs) < MOST_BOUNDARIES - 1
        print(f"killed {side} each of {len(jobs) - 1} boundaries")
        receipts = await database.fetch("select id from leasehold.finished_jobs where kind = 'receipt'")
        await check_promises(database, sorted({*jobs, *(row["id"] for row in receipts)}))
