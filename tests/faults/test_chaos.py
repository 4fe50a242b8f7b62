"""Processes are killed under load, at no chosen moment."""

from __future__ import annotations

import random
import signal

import pytest

from leasehold import NewJob
from tests.support.fault_audit import check_promises, install_audit
from tests.support.fleet import Fleet
from tests.support.waiting import eventually

pytestmark = pytest.mark.acceptance

KILLS = 3
JOBS_A_ROUND = 120


async def test_whoever_is_killed_every_job_completes_once_and_no_attempt_ends_twice(fleet: Fleet) -> None:
    draw = random.Random(7)
    await install_audit(fleet.database)
    workers = {name: await fleet.worker(name) for name in ("w0", "w1")}
    others = [fleet.run("reaper", "scheduler") for _ in range(2)]
    jobs: list[int] = []

    async def done() -> int:
        return await fleet.value("select count(*) from leasehold.finished_jobs")

    for kill in range(KILLS):
        goal = await done() + draw.randrange(JOBS_A_ROUND)
        new = [NewJob(kind="quick", delay=draw.choice([None, draw.random()])) for _ in range(JOBS_A_ROUND)]
        # Not long a second time: one under which three processes have died is rightly put in quarantine.
        new += [NewJob(kind="hold_first", args={"seconds": draw.random() / 2}, key=f"key {n % 3}") for n in range(4)]
        jobs += await fleet.client.enqueue_many(new)

        async def has_progressed(goal: int = goal) -> bool:
            return await done() >= goal

        await eventually(has_progressed)
        if kill % 3 == 2:
            others.pop(draw.randrange(len(others))).kill()
            others.append(fleet.run("reaper", "scheduler"))
        else:
            victim = draw.choice(sorted(workers))
            workers.pop(victim).kill()
            await fleet.expire(victim)
            workers[f"w{kill + 2}"] = await fleet.worker(f"w{kill + 2}")

    async def all_done() -> bool:
        return await done() == len(jobs)

    await eventually(all_done)
    await check_promises(fleet.database, jobs)
    assert [process.exit_code for process in [*workers.values(), *others]] == [None] * 4


async def test_a_job_on_a_worker_that_lost_its_lease_is_cancelled_and_cannot_write(fleet: Fleet) -> None:
    await install_audit(fleet.database)
    await fleet.database.execute("create table public.written (job_id bigint, attempt integer)")
    zombie = await fleet.worker("zombie")
    job = await fleet.client.enqueue("write_when_cancelled")
    await fleet.job(job, "running")
    zombie.signal(signal.SIGSTOP)
    fleet.run("reaper")
    await fleet.worker("heir")
    await fleet.expire("zombie")
    assert (await fleet.job(job, "completed")).worker_id == "heir"
    zombie.signal(signal.SIGCONT)
    await zombie.until_line("the write was refused")
    await zombie.until_line(f"job {job} attempt 1: lease lost")
    assert (await fleet.client.get(job)).output == 2
    assert await fleet.database.fetch("select * from public.written") == []
    assert "blocked the event loop" not in zombie.output
    await check_promises(fleet.database, [job])
