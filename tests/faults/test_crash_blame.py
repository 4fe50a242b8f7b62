"""A job that takes its worker down is found out, and those that ran beside it pay nothing for it."""

from __future__ import annotations

import signal

import pytest
import trio

from leasehold.records.jobs import JobRecord
from tests.support.fleet import Fleet
from tests.support.waiting import eventually

pytestmark = pytest.mark.acceptance

INNOCENTS = 50
# Leases run out by themselves: a death counts only for who has seen it for a third of one.
MORTAL = {"LEASEHOLD_LEASE_SECONDS": "6", "LEASEHOLD_RENEW_SECONDS": "1"}


async def keep_running(fleet: Fleet, worker_id: str) -> None:
    """A worker that is started again whenever it has died, as any process manager does."""
    while True:
        worker = await fleet.worker(worker_id, LEASEHOLD_SLOTS="8", **MORTAL)
        await worker.until_exit(600)


async def draining(fleet: Fleet, worker_id: str) -> None:
    """Until the row of the worker says so."""

    async def probe() -> bool:
        return await fleet.value("select state from leasehold.workers where worker_id = $1", worker_id) == "draining"

    await eventually(probe)


async def test_who_kills_draining_workers_again_and_again_charges_no_job(fleet: Fleet) -> None:
    """As a launcher does that has less patience than the worker knows of."""
    job = await fleet.client.enqueue("hold", {"seconds": 600}, max_attempts=2)
    for worker_id in "abcd":
        worker = await fleet.worker(worker_id, LEASEHOLD_DRAIN_SECONDS="600")
        await fleet.job(job, "running")
        worker.signal(signal.SIGTERM)
        await draining(fleet, worker_id)
        worker.signal(signal.SIGKILL)
        await worker.until_exit()
        await fleet.reap(worker_id)
    record = await fleet.job(job, "pending")
    assert (record.attempt, record.spared_attempts) == (4, 4)


async def test_nor_does_who_kills_one_whose_event_loop_is_blocked(fleet: Fleet) -> None:
    """Only the loop knows what the worker does; that it was told to end is said without it."""
    neighbour = await fleet.client.enqueue("hold", {"seconds": 600}, max_attempts=2, priority=1)
    blocking = await fleet.client.enqueue("block_loop", {"until": "never"}, max_attempts=2)
    for worker_id in "abcd":
        worker = await fleet.worker(worker_id, LEASEHOLD_DRAIN_SECONDS="600")
        await worker.until_line("blocked the event loop")
        worker.signal(signal.SIGTERM)
        await draining(fleet, worker_id)
        worker.signal(signal.SIGKILL)
        await worker.until_exit()
        await fleet.reap(worker_id)
    for job in (neighbour, blocking):
        record = await fleet.job(job, "pending")
        assert (record.attempt, record.spared_attempts) == (4, 4)


async def finished(fleet: Fleet, count: int) -> list[JobRecord]:
    """So many finished jobs, oldest first."""

    async def probe() -> bool:
        return await fleet.value("select count(*) from leasehold.finished_jobs") >= count

    await eventually(probe)
    return (await fleet.client.jobs.list(page_size=count))[::-1]


async def test_the_poison_is_in_quarantine_after_three_deaths_and_every_innocent_job_completes_uncharged(
    fleet: Fleet,
) -> None:
    jobs = [await fleet.client.enqueue("hold", {"seconds": 1.0}) for _ in range(INNOCENTS)]
    poison = await fleet.client.enqueue("poison", {"seconds": 0.2}, priority=1)
    fleet.run("reaper")
    async with trio.open_nursery() as nursery:
        for worker_id in "abc":
            nursery.start_soon(keep_running, fleet, worker_id)
        records = await finished(fleet, INNOCENTS + 1)
        nursery.cancel_scope.cancel()

    by_id = {record.id: record for record in records}
    assert {by_id[job].state for job in jobs} == {"completed"}
    assert (by_id[poison].state, by_id[poison].error["type"]) == ("failed", "Quarantined")
    charged = await fleet.database.fetch(
        "select id, attempt - spared_attempts as charged, crashes from leasehold.finished_jobs where kind = 'hold'"
    )
    assert max(row["charged"] for row in charged) == 1
    assert max(row["crashes"] or 0 for row in charged) <= 1
    deaths = [entry for entry in await fleet.client.jobs.timeline(poison) if entry.event == "reaped"]
    assert len(deaths) == 3
