"""Enqueueing over HTTP: requests a second, beside a bare aiohttp handler, and how soon a worker starts what comes in."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

import msgspec

from benchmarks.callers import KIND
from benchmarks.figures import Figure, Result, Say, Size, Spread, middle
from benchmarks.processes import free_port, running_gateway, running_worker, until, until_open
from benchmarks.server import ROOT, Server, connected
from benchmarks.wrk import Load, find_wrk, load

SIZES = {"full": (10, 3, (1, 10, 50)), "quick": (3, 1, (1, 10, 50)), "tiny": (1, 1, (2,))}
BODY = f'{{"kind": "{KIND}", "queue": "http"}}'
PICKUPS = """
select (output #>> '{}')::float8 - extract(epoch from created_at)::float8
  from leasehold.finished_jobs where kind = $1 and state = 'completed'
"""


class HttpResult(Result, frozen=True, kw_only=True):
    """Every load that was measured, by what took it; pick-up by number of connections."""

    loads: Mapping[str, Sequence[Load]]
    pickups: Mapping[int, Spread]


async def measure(server: Server, size: Size, say: Say) -> HttpResult:
    """First the gateway by itself in turn with the bare handler, then, under each load again, a worker beside it."""
    if find_wrk() is None:
        say("skipped: wrk is not installed (apt install wrk)")
        return HttpResult(figures=[], loads={}, pickups={})
    seconds, rounds, crowds = SIZES[size]
    loads: dict[str, list[Load]] = {"gateway": [], "bare": [], "gateway with a worker": []}
    async with server.database() as dsn, running_gateway(dsn) as (_, gateway), bare_handler() as bare:
        for _ in range(rounds):
            for connections in crowds:
                for name, url in (("bare", bare), ("gateway", gateway)):
                    loads[name].append(await load(f"{url}/api/jobs", BODY, connections, seconds))
                    say(f"{name}, {connections} connections: {loads[name][-1].per_second:,.0f}/s")
    pickups: dict[int, Spread] = {}
    for connections in crowds:
        async with server.database() as dsn, connected(dsn) as connection, running_gateway(dsn) as (_, gateway):
            async with running_worker(dsn):
                loads["gateway with a worker"].append(await load(f"{gateway}/api/jobs", BODY, connections, seconds))
                await until(connection, "select not exists (select from leasehold.jobs)", seconds=300)
            pickups[connections] = Spread.of([row[0] for row in await connection.fetch(PICKUPS, KIND)])
            say(f"pick-up under {connections} connections: p99 {pickups[connections].p99:.1f} ms")
    return HttpResult(figures=_figures(loads, pickups), loads=loads, pickups=pickups)


@asynccontextmanager
async def bare_handler() -> AsyncGenerator[str]:
    """The bare handler in a process of its own; yields its URL."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "benchmarks.bare_handler", str(port), cwd=ROOT)
    try:
        await until_open(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


def _figures(loads: Mapping[str, Sequence[Load]], pickups: Mapping[int, Spread]) -> Sequence[Figure]:
    figures: list[Figure] = []
    for connections in pickups:
        ours, bare, worked = (
            [each for each in loads[name] if each.connections == connections]
            for name in ("gateway", "bare", "gateway with a worker")
        )
        name = f"{connections} connection{'s' if connections > 1 else ''}"
        figures += [
            Figure(
                name=f"{name}, each request a durable job (floor: bare aiohttp)",
                unit="requests/s",
                **_pair(ours, bare, "per_second"),
            ),
            Figure(name=f"{name}, p99 of the answer (floor: bare aiohttp)", unit="ms", **_pair(ours, bare, "p99_ms")),
            Figure(name=f"{name}, with a worker beside it", unit="requests/s", value=worked[0].per_second),
            Figure(name=f"{name}, p99 pick-up of these jobs", unit="ms", value=pickups[connections].p99),
        ]
    return figures


def _pair(ours: Sequence[Load], bare: Sequence[Load], what: str) -> dict[str, float]:
    def of(loads: Sequence[Load]) -> float:
        return middle([msgspec.structs.asdict(each)[what] for each in loads])

    return {"value": of(ours), "floor": of(bare)}
