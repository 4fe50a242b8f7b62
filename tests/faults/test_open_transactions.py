"""Transactions that stay open: of a process that stands still in the middle of one, and of a handler that forgot it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support.fleet import Fleet, open_fleet
from tests.support.processes import StartProcess
from tests.support.waiting import eventually, until

pytestmark = pytest.mark.acceptance

LEASE = 5.0  # of the one that has to lose it


async def test_a_process_that_stands_still_in_an_atomic_job_gives_it_back(
    database_url: str, start_process: StartProcess
) -> None:
    async with open_fleet(database_url, start_process) as fleet:
        await fleet.database.execute("create table public.booked (job_id bigint, attempt int)")
        lost = await fleet.worker("lost", LEASEHOLD_LEASE_SECONDS=str(LEASE), LEASEHOLD_RENEW_SECONDS="1")
        job = await fleet.client.enqueue("book", {"seconds": 600})
        await fleet.job(job, "running")
        reaper = fleet.run("reaper")
        await fleet.worker("heir")
        await fleet.idle("heir")
        lost.signal(signal.SIGSTOP)
        record = await fleet.job(job, "completed")
        assert (record.worker_id, record.attempt) == ("heir", 2)
        told = await reaper.until_line("that session was ended")
        assert f"attempt 1 of job {job} on worker lost" in told
        assert "handlers" in told

        lost.signal(signal.SIGCONT)
        await until(lambda: "lease lost" in lost.output or "outcome refused" in lost.output)
        assert await fleet.value("select array_agg(attempt) from public.booked") == [2]
        assert await fleet.completions(job) == 1
        later = await fleet.client.enqueue("quick")
        await fleet.job(later, "completed")


async def test_a_transaction_that_a_handler_left_open_holds_up_no_other_job_nor_the_end_of_the_worker(
    database_url: str, start_process: StartProcess, tmp_path: Path
) -> None:
    async with open_fleet(database_url, start_process, LEASEHOLD_SLOTS="3") as fleet:
        worker = await fleet.worker("only")
        forgetful = await fleet.client.enqueue("forget_a_transaction")
        await eventually(lambda: _is_forgotten(fleet))
        others = [await fleet.client.enqueue("quick") for _ in range(50)]
        for job in others:
            await fleet.job(job, "completed")
        assert (await fleet.client.get(forgetful)).state in {"claimed", "running"}
        told = await worker.until_line("an outcome waits and is tried again")
        assert f"holds the row of job {forgetful} " in told
        last = [await fleet.client.enqueue("hold_until", {"until": str(tmp_path / "end")}) for _ in range(2)]
        for job in last:
            await fleet.job(job, "running")
        worker.signal(signal.SIGTERM)
        await worker.until_line("draining")
        (tmp_path / "end").touch()
        assert await worker.until_exit() == 0
        for job in last:
            assert (await fleet.client.get(job)).state == "completed"


async def _is_forgotten(fleet: Fleet) -> bool:
    return await fleet.value(
        "select exists (select from pg_stat_activity where datname = current_database() "
        "and application_name = 'leasehold forgotten' and state = 'idle in transaction')"
    )
