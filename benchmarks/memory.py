"""Whether a worker grows: its memory while it drains a million jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from benchmarks.bell import ringing
from benchmarks.drain import SLOTS
from benchmarks.figures import Figure, Result, Say, Size
from benchmarks.filling import QUEUE, fill
from benchmarks.meter import Meter
from benchmarks.processes import running_worker
from benchmarks.server import Server, connected

SIZES = {"full": (1_000_000, 5.0), "quick": (60_000, 2.0), "tiny": (2_000, 0.1)}
MOST_POINTS = 12
WARM_UP = 0.2  # of the time: buffers reach their size


class MemoryResult(Result, frozen=True, kw_only=True):
    """Millions of bytes of resident memory.

    Attributes:
        bare_mb: a process that imports asyncpg, listens and claims, and nothing else.
        idle_mb: before the first job.
        series_mb: during the drain, at even distances in time, first to last.
        after_mb: when nothing has been left for a while.
    """

    jobs: int
    bare_mb: float
    idle_mb: float
    series_mb: Sequence[float]
    after_mb: float


async def measure(server: Server, size: Size, say: Say) -> MemoryResult:
    """One worker process, one database."""
    jobs, rest = SIZES[size]
    async with server.database() as dsn, connected(dsn) as connection:
        async with ringing(dsn, connection) as bell:
            bare = bell.memory_mb
        await connection.execute("select leasehold.pause_queue($1)", QUEUE)
        say(f"filling in {jobs:,} jobs")
        await fill(connection, jobs)
        async with running_worker(dsn, "--slots", str(SLOTS)) as process:
            await asyncio.sleep(rest)
            idle = process.memory_mb()
            say("draining them")
            await connection.execute("select leasehold.resume_queue($1)", QUEUE)
            seen: list[float] = []
            meter = Meter(server, connection, [process])
            await meter.watch(lambda: seen.append(process.memory_mb()))
            await asyncio.sleep(rest)
            after = process.memory_mb()
    seen = seen or [after]
    growth = max(seen[len(seen) // 2 :]) - max(seen[int(len(seen) * WARM_UP) : len(seen) // 2 + 1])
    figures = [
        Figure(name="idle worker", value=idle, unit="MB", floor=bare, at_most=60),
        Figure(name=f"peak over {jobs:,} jobs", value=meter.peak_mb, unit="MB"),
        Figure(name="growth of the peak from the first half to the second", value=growth, unit="MB", at_most=4),
        Figure(name="after them", value=after, unit="MB"),
    ]
    return MemoryResult(figures=figures, jobs=jobs, bare_mb=bare, idle_mb=idle, series_mb=thinned(seen), after_mb=after)


def thinned(values: Sequence[float]) -> list[float]:
    """At most a dozen of them, evenly chosen, the first and the last among them."""
    points = min(MOST_POINTS, len(values))
    return [round(values[index * (len(values) - 1) // max(1, points - 1)], 1) for index in range(points)]
