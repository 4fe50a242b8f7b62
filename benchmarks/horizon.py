"""What an old snapshot costs: jobs in and out at a steady rate, with one transaction held open and without."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from uuid import uuid4

import msgspec

from benchmarks.chart import Panel, draw
from benchmarks.figures import Figure, Result, Say, Size, Spread
from benchmarks.filling import INSERT, QUEUE
from benchmarks.floors import CLAIM, complete
from benchmarks.processes import running
from benchmarks.server import Connection, Server, connected

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "horizon.svg"
BATCH = 100
PRODUCED_AT_ONCE = 50
PEAK_SECONDS = {"full": 10.0, "quick": 3.0, "tiny": 0.3}
MINUTES = {"full": 10.0, "quick": 1.0, "tiny": 0.01}
READ_ALL = "select count(*) from leasehold.jobs"


class Minute(msgspec.Struct, frozen=True, kw_only=True):
    """One minute of a run, or the last part of one."""

    jobs_per_second: float
    claims: Spread


class HorizonResult(Result, frozen=True, kw_only=True):
    """Both runs, minute by minute. `peak` is how many jobs a second went through unhindered."""

    peak: float
    rate: float
    free: Sequence[Minute]
    pinned: Sequence[Minute]
    backlog: int


class Run:
    """One database with a producer, a consumer and a reaper process."""

    def __init__(self, dsn: str, rate: float) -> None:
        self._dsn = dsn
        self._rate = rate
        self._incarnation = uuid4()
        self._claims: list[tuple[float, float, int]] = []

    async def go(self, seconds: float) -> list[tuple[float, float, int]]:
        """Returns for each claim when it began, in seconds from the start, how long it took, and its jobs."""
        async with connected(self._dsn) as producer, connected(self._dsn) as consumer:
            started = time.monotonic()
            await asyncio.gather(self._produce(producer, started, seconds), self._consume(consumer, started, seconds))
        return self._claims

    async def _produce(self, connection: Connection, started: float, seconds: float) -> None:
        made = 0
        while (now := time.monotonic() - started) < seconds:
            if made >= now * self._rate:
                await asyncio.sleep((made + PRODUCED_AT_ONCE) / self._rate - now)
            await connection.execute(INSERT, "noop", QUEUE, "{}", PRODUCED_AT_ONCE, 0)
            made += PRODUCED_AT_ONCE

    async def _consume(self, connection: Connection, started: float, seconds: float) -> None:
        while (now := time.monotonic() - started) < seconds:
            begun = time.perf_counter()
            rows = await connection.fetch(CLAIM, self._incarnation, [QUEUE], BATCH)
            self._claims.append((now, time.perf_counter() - begun, len(rows)))
            if rows:
                await complete(connection, self._incarnation, rows)
            if len(rows) < BATCH:
                await asyncio.sleep(0.005)


async def measure(
    server: Server, size: Size, say: Say, *, minutes: float | None = None, rate: float | None = None
) -> HorizonResult:
    """First without a pin, then with one. The rate is half of the peak, if it is not given."""
    seconds = 60 * (minutes or MINUTES[size])
    async with _installed(server, size) as dsn:
        peak = sum(jobs for _, _, jobs in await Run(dsn, 1e6).go(PEAK_SECONDS[size])) / PEAK_SECONDS[size]
    rate = rate or peak / 2
    say(f"{peak:,.0f} jobs/s in and out at the most; now {rate:,.0f} for {seconds / 60:g} minutes, twice")
    async with _installed(server, size) as dsn:
        free = _minutes(await Run(dsn, rate).go(seconds), seconds)
    async with _installed(server, size) as dsn, connected(dsn) as pin, connected(dsn) as admin:
        await pin.execute("begin isolation level repeatable read")
        await pin.fetch(READ_ALL)
        pinned = _minutes(await Run(dsn, rate).go(seconds), seconds)
        backlog = int(await admin.fetchval(READ_ALL))
        await pin.execute("rollback")
    if size == "full":
        PICTURE.write_text(_picture({"without": free, "with an old snapshot": pinned}))
    return HorizonResult(
        figures=_figures(free, pinned, backlog), peak=peak, rate=rate, free=free, pinned=pinned, backlog=backlog
    )


@asynccontextmanager
async def _installed(server: Server, size: Size) -> AsyncGenerator[str]:
    async with AsyncExitStack() as stack:
        dsn = await stack.enter_async_context(server.database())
        if size != "tiny":
            await stack.enter_async_context(running(dsn, "run", "reaper"))
        yield dsn


def _minutes(claims: Sequence[tuple[float, float, int]], seconds: float) -> list[Minute]:
    found: list[Minute] = []
    for number in range(max(1, round(seconds / 60))):
        part = [claim for claim in claims if number == min(int(claim[0] // 60), max(0, round(seconds / 60) - 1))]
        jobs, spread = sum(jobs for _, _, jobs in part), Spread.of([took for _, took, _ in part] or [seconds])
        found.append(Minute(jobs_per_second=jobs / min(60.0, seconds), claims=spread))
    return found


def _picture(runs: Mapping[str, Sequence[Minute]]) -> str:
    rates = {name: [each.jobs_per_second for each in minutes] for name, minutes in runs.items()}
    claims = {name: [each.claims.p99 for each in minutes] for name, minutes in runs.items()}
    panels = [Panel("jobs a second", rates), Panel("p99 of claims, ms", claims)]
    count = max(len(minutes) for minutes in runs.values())
    return draw(
        "Jobs in and out while a transaction is held open, and without", panels, [str(n + 1) for n in range(count)]
    )


def _figures(free: Sequence[Minute], pinned: Sequence[Minute], backlog: int) -> Sequence[Figure]:
    whole = [sum(each.jobs_per_second for each in run) / len(run) for run in (free, pinned)]
    return [
        Figure(name="without an old snapshot", value=whole[0], unit="jobs/s"),
        Figure(name="with an old snapshot", value=whole[1], unit="jobs/s", floor=whole[0]),
        Figure(name="share of the run without", value=whole[1] / (whole[0] or 1), unit="×", at_least=0.9),
        Figure(name="with: jobs left at the end", value=backlog, unit="jobs"),
        *(
            Figure(name=f"minute {n}: p99 of claims", value=held.claims.p99, unit="ms", floor=loose.claims.p99)
            for n, (loose, held) in enumerate(zip(free, pinned, strict=True), 1)
        ),
    ]
