"""A worker that dies, stands still or hangs."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support.fleet import Fleet, open_fleet
from tests.support.processes import StartProcess
from tests.support.waiting import eventually, until

pytestmark = pytest.mark.acceptance

LEASE = 5.0


async def test_a_killed_workers_jobs_run_again_when_their_leases_have_run_out_and_not_before(
    database_url: str, start_process: StartProcess
) -> None:
    async with open_fleet(database_url, start_process) as fleet:
        victim = await fleet.worker("victim", LEASEHOLD_LEASE_SECONDS=str(LEASE), LEASEHOLD_RENEW_SECONDS="1")
        jobs = [await fleet.client.enqueue("hold_first", {"seconds": 600}) for _ in range(3)]
        for job in jobs:
            await fleet.job(job, "running")
        fleet.run("reaper")
        await fleet.worker("heir", LEASEHOLD_SLOTS="5")
        await fleet.idle("heir")
        victim.kill()
        # Each is renewed for itself. One that runs again already has another lease, and nobody knows when the first one ended.
        held = "select id, lease_expires_at from leasehold.jobs where worker_id = 'victim'"
        leases = {row["id"]: row["lease_expires_at"] for row in await fleet.database.fetch(held)}
        for job in jobs:
            record = await fleet.job(job, "completed")
            assert record.attempt == 2
            assert record.output == 2
            assert record.worker_id == "heir"
            assert record.claimed_at is not None
            assert job not in leases or record.claimed_at >= leases[job]
            assert await fleet.completions(job) == 1
            events = [entry.event for entry in await fleet.client.jobs.timeline(job)]
            assert events == ["created", "claimed", "started", "reaped", "claimed", "started", "completed"]


async def test_a_zombie_has_lost_its_job_and_goes_on_as_a_worker(fleet: Fleet) -> None:
    zombie = await fleet.worker("zombie", LEASEHOLD_QUEUES="default,zombie")
    job = await fleet.client.enqueue("hold_first", {"seconds": 600})
    await fleet.job(job, "running")
    zombie.signal(signal.SIGSTOP)
    fleet.run("reaper")
    await fleet.worker("heir", LEASEHOLD_QUEUES="default")
    await fleet.expire("zombie")
    record = await fleet.job(job, "completed")
    assert (record.worker_id, record.attempt, record.output) == ("heir", 2, 2)

    zombie.signal(signal.SIGCONT)
    await until(lambda: "lease lost" in zombie.output)
    later = await fleet.client.enqueue("quick", queue="zombie")
    assert (await fleet.job(later, "completed")).worker_id == "zombie"
    assert await fleet.completions(job) == 1
    assert (await fleet.client.get(job)).worker_id == "heir"


async def test_a_handler_that_blocks_the_event_loop_keeps_its_job(fleet: Fleet, tmp_path: Path) -> None:
    worker = await fleet.worker("blocked")
    fleet.run("reaper")
    job = await fleet.client.enqueue("block_loop", {"until": str(tmp_path / "end")})
    told = await worker.until_line("blocked the event loop")
    await fleet.renewed(job, 3)
    (tmp_path / "end").touch()
    record = await fleet.job(job, "completed")
    assert (record.attempt, record.output) == (1, "blocked")
    assert f"job {job} (block_loop)" in told
    assert "time.sleep(0.01)" in worker.output


async def test_a_handler_that_takes_its_process_down_is_tried_by_others_until_its_attempts_are_used_up(
    fleet: Fleet,
) -> None:
    job = await fleet.client.enqueue("kill_worker", max_attempts=2)
    for victim in ("first", "second"):
        process = await fleet.worker(victim)
        assert await process.until_exit() == -signal.SIGABRT
        await fleet.reap(victim)
    await fleet.reap("second")  # which had a lease more to come back
    record = await fleet.job(job, "failed")
    assert record.attempt == 2
    assert record.error["type"] == "LeaseExpired"


async def test_two_reapers_take_a_job_back_once(fleet: Fleet) -> None:
    victim = await fleet.worker("victim", LEASEHOLD_SLOTS="20")
    jobs = [await fleet.client.enqueue("hold_first", {"seconds": 600}) for _ in range(20)]
    for job in jobs:
        await fleet.job(job, "running")
    fleet.run("reaper")
    fleet.run("reaper")
    victim.kill()
    await fleet.expire("victim")

    async def all_back() -> bool:
        return await fleet.value("select count(*) from leasehold.jobs where state = 'pending'") == len(jobs)

    await eventually(all_back)
    assert await fleet.value("select count(*) from leasehold.job_events where event = 'reaped'") == len(jobs)
