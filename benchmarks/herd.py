"""What a trickle of jobs costs where hundreds of workers wait for it, beside the same trickle for one worker."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import msgspec

from benchmarks.figures import Figure, Result, Say, Size
from benchmarks.fleet import FleetSize, workers_of
from benchmarks.processes import until
from benchmarks.server import Server, at_beats, connected, roomy

JOBS_PER_SECOND = 50
ENQUEUE = "select leasehold.enqueue_job('nap', '{\"seconds\": 0}')"
SIZES = {
    "full": FleetSize(500, 4, 20.0, 60.0, 0.0),
    "quick": FleetSize(200, 4, 15.0, 15.0, 0.0),
    "tiny": FleetSize(4, 2, 0.2, 0.5, 0.0),
}
STARTS = """
select percentile_cont(0.5) within group (order by waited) as p50, percentile_cont(0.99) within group (order by waited) as p99
  from (select extract(epoch from claimed_at - created_at)::float8 * 1000 as waited from leasehold.finished_jobs) f
"""


class Trickle(msgspec.Struct, frozen=True, kw_only=True):
    """`cpu_percent` is Postgres' share of one core; `p50` and `p99` are milliseconds from the enqueueing to the claim."""

    workers: int
    idle_cpu_percent: float
    cpu_percent: float
    p50: float
    p99: float


class HerdResult(Result, frozen=True, kw_only=True):
    """The same jobs for one worker and for all."""

    jobs_per_second: int
    alone: Trickle
    many: Trickle


async def measure(server: Server, size: Size, say: Say) -> HerdResult:
    """One installation after the other, on one server."""
    wanted = SIZES[size]
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(roomy(server, wanted.connections, say))
        alone = await _measure(server, msgspec.structs.replace(wanted, workers=1, processes=1), say)
        many = await _measure(server, wanted, say)
    return HerdResult(
        figures=[each for trickle in (alone, many) for each in _figures(trickle)],
        jobs_per_second=JOBS_PER_SECOND,
        alone=alone,
        many=many,
    )


async def _measure(server: Server, wanted: FleetSize, say: Say) -> Trickle:
    async with AsyncExitStack() as stack:
        dsn = await stack.enter_async_context(server.database())
        await stack.enter_async_context(workers_of(dsn, wanted, say))
        inside = await stack.enter_async_context(connected(dsn))
        ready = f"select count(*) = {wanted.workers} from leasehold.workers where idle and listening"
        await until(inside, ready, seconds=300)
        say(f"waiting {wanted.settle:g} s for the polling to slow down")
        await asyncio.sleep(wanted.settle)
        idle = await server.cpu_percent(asyncio.sleep(wanted.seconds / 2))
        say(f"{JOBS_PER_SECOND} jobs a second for {wanted.seconds:g} s")
        busy = await server.cpu_percent(
            at_beats(inside, ENQUEUE, int(wanted.seconds * JOBS_PER_SECOND), JOBS_PER_SECOND)
        )
        await until(inside, "select not exists (select from leasehold.jobs)", seconds=60)
        [row] = await inside.fetch(STARTS)
    return Trickle(workers=wanted.workers, idle_cpu_percent=idle, cpu_percent=busy, p50=row["p50"], p99=row["p99"])


def _figures(trickle: Trickle) -> list[Figure]:
    name = f"{JOBS_PER_SECOND} jobs a second, {trickle.workers} workers"
    return [
        Figure(
            name=f"{trickle.workers} idle workers: CPU of Postgres", value=trickle.idle_cpu_percent, unit="% of a core"
        ),
        Figure(name=f"{name}: CPU of Postgres", value=trickle.cpu_percent, unit="% of a core"),
        Figure(name=f"{name}: until claimed, p50", value=trickle.p50, unit="ms"),
        Figure(name=f"{name}: until claimed, p99", value=trickle.p99, unit="ms"),
    ]
