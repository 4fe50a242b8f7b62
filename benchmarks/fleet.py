"""What a fleet that has nothing to do costs, and how soon all of it stops when a queue is paused."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import NamedTuple

import msgspec
import psutil

from benchmarks.figures import Figure, Result, Say, Size
from benchmarks.processes import until
from benchmarks.readings import count_transactions
from benchmarks.server import ROOT, Connection, Server, connected, roomy


class FleetSize(msgspec.Struct, frozen=True):
    """How many workers in how many processes; seconds to settle, to watch, and that a job takes when a queue is paused."""

    workers: int
    processes: int
    settle: float
    seconds: float
    nap: float

    @property
    def connections(self) -> int:
        """Of all workers: dispatcher, settler, lease keeper, listener; and some of ours."""
        return self.workers * 4 + 50


SIZES = {
    "full": FleetSize(200, 4, 15.0, 60.0, 5.0),
    "quick": FleetSize(200, 4, 15.0, 10.0, 5.0),
    "tiny": FleetSize(4, 2, 0.2, 0.5, 0.5),
}
STARTS = """
select max(extract(epoch from f.claimed_at - q.paused_at))::float8 as claim, max(f.output::float8 - $1::float8) as start,
       count(*) filter (where f.output::float8 > $1::float8) as late
  from leasehold.finished_jobs f join leasehold.queues q on q.queue = f.queue where f.kind = 'nap'
"""
UPDATES = "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relname = 'workers'"


class Stop(NamedTuple):
    """Milliseconds from a pause to the last claim and to the last start of a handler, and how many started late."""

    claim: float
    start: float
    late: int


class FleetResult(Result, frozen=True, kw_only=True):
    """`updates` and `hot_updates` are those of the table of workers while nothing was to do."""

    workers: int
    seconds: float
    updates: int
    hot_updates: int
    started_after_pause: int


async def measure(server: Server, size: Size, say: Say) -> FleetResult:
    """Whole workers, each with its own connections, many to a process."""
    wanted = SIZES[size]
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(roomy(server, wanted.connections, say))
        admin = await stack.enter_async_context(connected(server.dsn))
        dsn = await stack.enter_async_context(server.database())
        crew = await stack.enter_async_context(workers_of(dsn, wanted, say))
        inside = await stack.enter_async_context(connected(dsn))
        await until(
            inside, f"select count(*) = {wanted.workers} from leasehold.workers where idle and listening", seconds=180
        )
        say(f"waiting {wanted.settle:g} s for the polling to slow down")
        await asyncio.sleep(wanted.settle)
        say(f"watching for {wanted.seconds:g} s")
        figures, updates, hot = await _watch(server, admin, dsn, wanted, crew)
        say("pausing a queue")
        stop = await _pause(inside, wanted)
    return FleetResult(
        figures=[
            *figures,
            Figure(
                name="HOT share of the updates",
                value=100.0 * hot / updates if updates else 100.0,
                unit="%",
                at_least=100,
            ),
            Figure(name="last claim after a queue was paused", value=stop.claim, unit="ms", at_most=100),
            Figure(name="last start after a queue was paused", value=stop.start, unit="ms"),
        ],
        workers=wanted.workers,
        seconds=wanted.seconds,
        updates=updates,
        hot_updates=hot,
        started_after_pause=stop.late,
    )


async def _watch(
    server: Server, admin: Connection, dsn: str, wanted: FleetSize, crew: list[psutil.Process]
) -> tuple[list[Figure], int, int]:
    """Nobody but the fleet is connected to its database meanwhile, or asks it anything."""

    async def look() -> tuple[float, int, float, float]:
        cpu = sum(sum(process.cpu_times()[:2]) for process in crew)
        return time.monotonic(), await count_transactions(admin, dsn), server.cpu_seconds(), cpu

    async with connected(dsn) as inside:
        updates_before = (await inside.fetch(UPDATES))[0]
    before = await look()
    await asyncio.sleep(wanted.seconds)
    after = await look()
    async with connected(dsn) as inside:
        updates_after = (await inside.fetch(UPDATES))[0]
    seconds, statements, postgres, clients = (now - then for now, then in zip(after, before, strict=True))
    updates, hot = (now - then for now, then in zip(updates_after, updates_before, strict=True))
    return (
        [
            Figure(name=f"{wanted.workers} idle workers: statements", value=statements / seconds, unit="/s"),
            Figure(name="statements of each", value=statements / seconds / wanted.workers, unit="/s"),
            Figure(name="CPU of Postgres", value=postgres / seconds * 100, unit="% of a core"),
            Figure(name="CPU of each worker", value=clients / seconds * 100 / wanted.workers, unit="% of a core"),
            Figure(name="heartbeats and other updates of workers", value=updates / seconds, unit="/s"),
        ],
        updates,
        hot,
    )


async def _pause(inside: Connection, wanted: FleetSize) -> Stop:
    """Pause a queue while every slot of the fleet takes one job after another from it."""
    slots = wanted.workers * 3
    jobs = f"jsonb_build_object('kind', 'nap', 'queue', 'naps', 'args', jsonb_build_object('seconds', {wanted.nap}))"
    await inside.execute(
        f"select count(*) from leasehold.enqueue_jobs((select jsonb_agg({jobs}) from generate_series(1, {slots * 10})))"
    )
    await until(inside, f"select count(*) > {slots // 2} from leasehold.finished_jobs", seconds=120)
    await inside.execute("select leasehold.pause_queue('naps')")
    paused_at = time.time()
    await until(inside, "select not exists (select from leasehold.jobs where incarnation is not null)", seconds=60)
    [row] = await inside.fetch(STARTS, paused_at)
    return Stop(max(0.0, row["claim"] * 1000), max(0.0, row["start"] * 1000), int(row["late"]))


@asynccontextmanager
async def workers_of(dsn: str, wanted: FleetSize, say: Say) -> AsyncGenerator[list[psutil.Process]]:
    each = wanted.workers // wanted.processes
    say(f"starting {wanted.processes} processes with {each} workers each")
    started = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-m", "benchmarks.crew", dsn, str(each), f"crew{number}", cwd=ROOT
        )
        for number in range(wanted.processes)
    ]
    try:
        yield [psutil.Process(process.pid) for process in started]
    finally:
        for process in started:
            process.terminate()
        for process in started:
            try:
                await asyncio.wait_for(process.wait(), 30)
            except TimeoutError:
                process.kill()
