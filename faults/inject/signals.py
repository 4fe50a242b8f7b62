"""Faults of processes."""

from __future__ import annotations

from signal import SIGCONT, SIGKILL, SIGSTOP, SIGTERM

import trio

from faults.fleet.member import Member
from faults.inject.stage import Stage, Targets
from faults.load.diary import CLOCK_AHEAD

SOME_HOURS = 7200.0


async def kill_worker(stage: Stage) -> Targets:
    return (stage.worker.signal(SIGKILL),)


async def kill_all_workers(stage: Stage) -> Targets:
    return tuple(worker.signal(SIGKILL) for worker in stage.fleet.workers)


async def kill_reaper(stage: Stage) -> Targets:
    return (stage.dice.choice(stage.fleet.reapers).signal(SIGKILL),)


async def kill_scheduler(stage: Stage) -> Targets:
    return (stage.dice.choice(stage.fleet.schedulers).signal(SIGKILL),)


async def kill_gateway(stage: Stage) -> Targets:
    return (stage.fleet.gateway.signal(SIGKILL),)


async def term_worker(stage: Stage) -> Targets:
    return (stage.worker.signal(SIGTERM),)


async def term_worker_twice(stage: Stage) -> Targets:
    worker = stage.worker
    process = worker.signal(SIGTERM)
    await trio.sleep(stage.dice.random())
    if worker.process == process:
        worker.signal(SIGTERM)
    return (process,)


async def stop(stage: Stage, member: Member) -> Targets:
    process = member.signal(SIGSTOP)
    try:
        await stage.wait()
    finally:
        if member.process == process:
            member.signal(SIGCONT)
    return (process,)


async def stop_worker(stage: Stage) -> Targets:
    return await stop(stage, stage.worker)


async def stop_reaper(stage: Stage) -> Targets:
    return await stop(stage, stage.dice.choice(stage.fleet.reapers))


async def stop_scheduler(stage: Stage) -> Targets:
    return await stop(stage, stage.dice.choice(stage.fleet.schedulers))


async def wrong_clock(stage: Stage) -> Targets:
    """The next process of this worker believes in another hour."""
    worker = stage.worker
    worker.env[CLOCK_AHEAD] = str(stage.dice.choice([-SOME_HOURS, SOME_HOURS]))
    return (worker.signal(SIGKILL),)
