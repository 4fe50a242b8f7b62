"""What a process with a worker, a scheduler and a reaper costs while a few jobs a second come in."""

from __future__ import annotations

import asyncio
import time

import msgspec

from benchmarks.figures import Figure, Result, Say, Size
from benchmarks.processes import running, until
from benchmarks.readings import count_transactions
from benchmarks.server import Server, at_beats, connected

JOBS_PER_SECOND = 15
SIZES = {"full": (10.0, 60.0), "quick": (4.0, 15.0), "tiny": (0.2, 0.4)}


class Reading(msgspec.Struct, frozen=True):
    """At one moment: CPU seconds of the process and of Postgres, and transactions."""

    at: float
    process: float
    postgres: float
    commits: int


class SteadyResult(Result, frozen=True, kw_only=True):
    """While nothing was to do, and while jobs came in one by one."""

    jobs_per_second: int


async def measure(server: Server, size: Size, say: Say) -> SteadyResult:
    """Idle first, then with jobs; the producer's own transactions are not counted."""
    settle, seconds = SIZES[size]
    async with (
        server.database() as dsn,
        connected(server.dsn) as admin,
        connected(dsn) as inside,
        running(dsn, "run", "worker", "scheduler", "reaper", "--app", "benchmarks.handlers:app") as process,
    ):
        await until(inside, "select count(*) = 1 from leasehold.workers where idle and listening", process)
        await asyncio.sleep(settle)

        async def read() -> Reading:
            commits = await count_transactions(admin, dsn)
            return Reading(time.monotonic(), process.cpu_seconds(), server.cpu_seconds(), commits)

        say(f"idle for {seconds:g} s")
        before = await read()
        await asyncio.sleep(seconds)
        idle = await read()
        say(f"{JOBS_PER_SECOND} jobs a second for {seconds:g} s")
        sent = max(1, int(seconds * JOBS_PER_SECOND))
        await at_beats(inside, "select leasehold.enqueue_job('noop')", sent, JOBS_PER_SECOND)
        busy = await read()
        await until(inside, "select not exists (select from leasehold.jobs)", process)
    return SteadyResult(
        figures=[
            *_figures("idle", before, idle),
            *_figures(f"{JOBS_PER_SECOND} jobs a second", idle, busy),
            Figure(name="transactions for each job", value=(busy.commits - idle.commits) / sent - 1, unit=""),
        ],
        jobs_per_second=JOBS_PER_SECOND,
    )


def _figures(name: str, before: Reading, after: Reading) -> list[Figure]:
    seconds = after.at - before.at
    process, postgres = after.process - before.process, after.postgres - before.postgres
    return [
        Figure(name=f"{name}: CPU of the process", value=process / seconds * 100, unit="% of a core"),
        Figure(name=f"{name}: CPU of Postgres", value=postgres / seconds * 100, unit="% of a core"),
    ]
