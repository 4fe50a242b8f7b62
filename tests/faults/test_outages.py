"""The database is away for longer than a lease, or a process stands still for as long: nothing has died."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
import trio

from tests.support.fleet import Fleet, open_fleet
from tests.support.processes import LeaseholdProcess, StartProcess
from tests.support.proxy import proxied
from tests.support.servers import OwnServer
from tests.support.waiting import eventually, until

pytestmark = pytest.mark.acceptance

JOBS = 12
ATTEMPTS = 4
OUTAGES = 2  # one more than attempts are left
# The worker has to see its leases run out. One that a busy machine keeps from renewing stands still: that is judged otherwise.
UNHURRIED = {"LEASEHOLD_LEASE_SECONDS": "10", "LEASEHOLD_RENEW_SECONDS": "1"}
BLAME = "select attempt - spared_attempts as counted, crashes from leasehold.jobs order by id"


async def all_running(fleet: Fleet, jobs: int, attempt: int) -> None:
    """Until so many jobs run at once, in their so-manieth attempt at the least."""
    running = "select count(*) from leasehold.jobs where state = 'running' and attempt >= $1"

    async def probe() -> bool:
        return await fleet.value(running, attempt) == jobs

    await eventually(probe)


def given_up(workers: list[LeaseholdProcess]) -> int:
    """How many handlers were cancelled because their leases could not be renewed."""
    return sum(worker.output.count("lease lost (error)") for worker in workers)


async def crashes(fleet: Fleet) -> list[int | None]:
    return [row["crashes"] for row in await fleet.database.fetch(BLAME)]


async def has_crashes(fleet: Fleet, count: int) -> bool:
    """Whether the only job has so many to its name."""
    return await crashes(fleet) == [count]


async def reap(fleet: Fleet, job: int) -> None:
    """The lease of the worker that holds it runs out, and is noticed."""
    holder = (await fleet.client.get(job)).worker_id
    assert holder is not None
    await fleet.reap(holder)


def let_go(pipe: Path) -> None:
    """Send the byte that a handler waits for."""
    with pipe.open("r+b", buffering=0) as stream:
        stream.write(b"!")


async def test_innocents_are_never_charged_for_the_absence_of_postgres(
    durable_fleet: Fleet, durable_server: OwnServer
) -> None:
    fleet = durable_fleet
    workers = [await fleet.worker(name, LEASEHOLD_SLOTS="4", **UNHURRIED) for name in "abc"]
    for _ in range(2):
        await fleet.run("reaper", **UNHURRIED).until_line("running reaper")
    for _ in range(JOBS):
        await fleet.client.enqueue("hold", {"seconds": 600}, max_attempts=2)
    for outage in range(OUTAGES):
        await all_running(fleet, JOBS, outage + 1)
        before = given_up(workers)
        await trio.to_thread.run_sync(durable_server.stop)
        await until(lambda before=before: given_up(workers) >= before + JOBS)
        await trio.to_thread.run_sync(durable_server.start)
    await all_running(fleet, JOBS, OUTAGES + 1)
    assert [tuple(row) for row in await fleet.database.fetch(BLAME)] == [(1, None)] * JOBS
    assert [worker.exit_code for worker in workers] == [None] * 3


async def test_jobs_of_one_attempt_outlive_an_absence_of_postgres_that_breaks_their_transactions(
    durable_fleet: Fleet, durable_server: OwnServer
) -> None:
    fleet = durable_fleet
    await fleet.database.execute("create table public.booked (job_id bigint, attempt int)")
    worker = await fleet.worker("a", LEASEHOLD_SLOTS="16")
    jobs = [await fleet.client.enqueue("book_through_an_outage", max_attempts=1) for _ in range(16)]
    await all_running(fleet, len(jobs), 1)
    await trio.to_thread.run_sync(durable_server.stop)
    await trio.to_thread.run_sync(durable_server.start)
    assert [(await fleet.job(job, "completed")).output for job in jobs] == [2] * 16
    booked = await fleet.database.fetch("select job_id, attempt from public.booked order by job_id")
    assert [tuple(row) for row in booked] == [(job, 2) for job in sorted(jobs)]
    assert worker.exit_code is None


async def test_a_worker_that_alone_cannot_reach_the_database_takes_the_blame_off_its_jobs(
    database_url: str, start_process: StartProcess
) -> None:
    """The reaper has the database all the time and takes the worker for dead."""
    async with open_fleet(database_url, start_process, **UNHURRIED) as fleet, proxied(database_url) as proxy:
        cut_off = await fleet.worker("cut off", LEASEHOLD_SLOTS="3", LEASEHOLD_DATABASE_URL=proxy.dsn)
        await fleet.run("reaper").until_line("running reaper")
        for _ in range(3):
            await fleet.client.enqueue("hold", {"seconds": 600}, max_attempts=2)
        await all_running(fleet, 3, 1)
        proxy.stall()

        async def suspected() -> bool:
            return await crashes(fleet) == [1, 1, 1]

        await eventually(suspected)
        await until(lambda: given_up([cut_off]) == 3)
        proxy.resume()
        await all_running(fleet, 3, 2)

        async def cleared() -> bool:
            return [tuple(row) for row in await fleet.database.fetch(BLAME)] == [(1, None)] * 3

        await eventually(cleared)


async def test_a_process_that_was_stopped_and_goes_on_has_not_died(fleet: Fleet) -> None:
    stopped = await fleet.worker("stopped", LEASEHOLD_SLOTS="3")
    for _ in range(3):
        await fleet.client.enqueue("hold", {"seconds": 600})
    await all_running(fleet, 3, 1)
    stopped.signal(signal.SIGSTOP)
    await fleet.reap("stopped")
    assert await crashes(fleet) == [1, 1, 1]
    stopped.signal(signal.SIGCONT)

    async def excused() -> bool:
        return await crashes(fleet) == [0, 0, 0]

    await eventually(excused)


async def test_what_holds_the_interpreter_for_longer_than_its_leases_ends_by_its_attempts_and_not_in_quarantine(
    fleet: Fleet, tmp_path: Path
) -> None:
    workers = [await fleet.worker(name, LEASEHOLD_SLOTS="1") for name in "abc"]
    for attempt in range(1, ATTEMPTS + 1):
        os.mkfifo(tmp_path / str(attempt))
    job = await fleet.client.enqueue("hold_interpreter", {"folder": str(tmp_path)}, max_attempts=ATTEMPTS)
    for attempt in range(1, ATTEMPTS + 1):
        await until((tmp_path / f"{attempt}.held").exists)
        await fleet.client.queues.pause("default")  # nobody takes it again before its holder could say that it lives
        await reap(fleet, job)
        assert await has_crashes(fleet, 1)
        if attempt < ATTEMPTS:
            let_go(tmp_path / str(attempt))
            await eventually(lambda: has_crashes(fleet, 0))
            await fleet.client.queues.resume("default")
    # The last attempt is left to its worker for one lease more, in case it comes back.
    await reap(fleet, job)
    record = await fleet.job(job, "failed")
    assert record.error["type"] == "LeaseExpired"
    let_go(tmp_path / str(ATTEMPTS))
    for name in "abc":
        await fleet.idle(name)
    assert [worker.exit_code for worker in workers] == [None] * 3


async def test_workers_alone_take_back_the_jobs_of_a_dead_one(fleet: Fleet) -> None:
    victim = await fleet.worker("victim")
    jobs = [await fleet.client.enqueue("hold_first", {"seconds": 600}) for _ in range(3)]
    for job in jobs:
        await fleet.job(job, "running")
    heir = await fleet.worker("heir", LEASEHOLD_SLOTS="5")
    await fleet.idle("heir")
    victim.kill()
    await fleet.expire("victim")
    for job in jobs:
        record = await fleet.job(job, "completed")
        assert (record.attempt, record.worker_id) == (2, "heir")
    assert "took back job" in heir.output
