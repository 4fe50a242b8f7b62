"""What open tabs of the dashboard cost: the CPU of the gateway and of Postgres, and their connections.

A tab is a real stream (`/api/events`) whose reader takes all that comes; a tab that shows the overview asks for that every five
seconds, too, as the page does. Jobs are enqueued, claimed and settled a few a second over SQL, in all phases alike.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import uuid4

import aiohttp
import msgspec

from benchmarks.figures import Figure, Result, Say, Size
from benchmarks.processes import Process, running_gateway
from benchmarks.server import Connection, Server, connected

TABS = 50
GOAL_PERCENT = 5.0
OVERVIEW_SECONDS = 5.0
SIZES = {"full": (15.0, 60.0), "quick": (8.0, 20.0), "tiny": (0.3, 0.3)}
RATES = {"idle": 0.0, "5 jobs/s": 5.0}
CONNECTIONS = """
select count(*) filter (where application_name like 'leasehold gateway%') as ours,
       count(*) filter (where application_name like 'leasehold gateway% listener' and query ilike 'listen%leasehold"%') listening
  from pg_stat_activity where datname = current_database()
"""
WORK = """
do $$
declare v_id bigint; v_attempt integer;
begin
    perform leasehold.enqueue_job('echo', '{"n": 1}', queue => 'tabs');
    select job_id, attempt into v_id, v_attempt from leasehold.claim_jobs('%(worker)s', 'tabs', batch => 1);
    perform leasehold.complete_jobs('%(worker)s', array[v_id], array[v_attempt], array[null::jsonb], array[0.01::float8]);
end
$$
"""


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """In a phase: shares of a core, connections, and bytes that all tabs got."""

    gateway_percent: float
    postgres_percent: float
    connections: int
    listening: int
    received: int


class TabsResult(Result, frozen=True, kw_only=True):
    """Each phase by its name."""

    costs: Mapping[str, Cost]


class Tabs:
    """Open tabs; `received` counts their bytes."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self._url = url
        self._session = session
        self.received = 0

    @asynccontextmanager
    async def open(self, number: int, *, overview: bool) -> AsyncGenerator[None]:
        """So many, each with its stream; `overview`: each asks for the overview besides."""
        ready = [asyncio.Event() for _ in range(number)]
        tasks = [asyncio.create_task(self._listen(each)) for each in ready]
        tasks += [asyncio.create_task(self._look(n / number)) for n in range(number if overview else 0)]
        try:
            await asyncio.wait_for(asyncio.gather(*(each.wait() for each in ready)), 60)
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self, ready: asyncio.Event) -> None:
        async with self._session.get(f"{self._url}/api/events", timeout=aiohttp.ClientTimeout(None)) as stream:
            async for line in stream.content:
                self.received += len(line)
                if line.startswith(b"event: ready"):
                    ready.set()

    async def _look(self, share: float) -> None:
        await asyncio.sleep(share * OVERVIEW_SECONDS)
        while True:
            async with self._session.get(f"{self._url}/api/overview") as answer:
                self.received += len(await answer.read())
            await asyncio.sleep(OVERVIEW_SECONDS)


async def measure(server: Server, size: Size, say: Say) -> TabsResult:
    """Without tabs, with streams, and with the overview besides; each idle and at a few jobs a second."""
    costs: dict[str, Cost] = {}
    async with AsyncExitStack() as stack:
        dsn = await stack.enter_async_context(server.database())
        admin = await stack.enter_async_context(connected(dsn))
        working = await stack.enter_async_context(connected(dsn))
        session = await stack.enter_async_context(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
        gateway, url = await stack.enter_async_context(running_gateway(dsn))
        tabs = Tabs(url, session)
        for rate_name, rate in RATES.items():
            for name, number, overview in (("no tab", 0, False), ("streams", TABS, False), ("overviews", TABS, True)):
                async with tabs.open(number, overview=overview), jobs(working, rate):
                    costs[f"{name}, {rate_name}"] = await watch(server, gateway, admin, tabs, size)
                say(f"{name}, {rate_name}: {costs[f'{name}, {rate_name}']}")
    return TabsResult(figures=figures_of(costs), costs=costs)


@asynccontextmanager
async def jobs(connection: Connection, rate: float) -> AsyncGenerator[None]:
    """So many jobs a second, from being enqueued to their end."""
    statement = WORK % {"worker": uuid4()}

    async def work() -> None:
        while True:
            await connection.execute(statement)
            await asyncio.sleep(1 / rate)

    task = asyncio.create_task(work()) if rate else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()
            await asyncio.wait([task])


async def watch(server: Server, gateway: Process, admin: Connection, tabs: Tabs, size: Size) -> Cost:
    """The cost of a while, after a while to settle."""
    settle, seconds = SIZES[size]
    await asyncio.sleep(settle)
    before = time.monotonic(), gateway.cpu_seconds(), server.cpu_seconds(), tabs.received
    await asyncio.sleep(seconds)
    now = time.monotonic(), gateway.cpu_seconds(), server.cpu_seconds(), tabs.received
    [row] = await admin.fetch(CONNECTIONS)
    took = now[0] - before[0]
    return Cost(
        gateway_percent=(now[1] - before[1]) / took * 100,
        postgres_percent=(now[2] - before[2]) / took * 100,
        connections=row["ours"],
        listening=row["listening"],
        received=now[3] - before[3],
    )


def figures_of(costs: Mapping[str, Cost]) -> list[Figure]:
    """What the tabs cost beyond what happens without them, and the connections that all of them share."""
    figures: list[Figure] = []
    for rate in RATES:
        base = costs[f"no tab, {rate}"]
        for name in ("streams", "overviews"):
            cost = costs[f"{name}, {rate}"]
            percent = cost.gateway_percent + cost.postgres_percent - base.gateway_percent - base.postgres_percent
            title = f"{TABS} tabs, {name}, {rate}"
            figures += [
                Figure(
                    name=f"{title}: CPU of gateway and Postgres",
                    value=percent,
                    unit="% of a core",
                    at_most=GOAL_PERCENT,
                ),
                Figure(name=f"{title}: connections more", value=cost.connections - base.connections, unit=""),
                Figure(name=f"{title}: listening more", value=cost.listening - base.listening, unit="", at_most=1),
            ]
    return figures
