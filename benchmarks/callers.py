"""The ways to enqueue one job: plain SQL, the Python client, HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import aiohttp

from benchmarks.processes import running_gateway
from benchmarks.server import Connection
from leasehold import open_client

KIND = "clock_in"

Enqueue = Callable[[], Awaitable[int]]


def by_sql(connection: Connection, delay: float | None = None) -> Enqueue:
    """As `psql` does it: one statement that commits by itself. `delay` in seconds."""
    statement = f"select leasehold.enqueue_job('{KIND}', delay => make_interval(secs => $1))"
    return lambda: connection.fetchval(statement, delay)


@asynccontextmanager
async def all_callers(dsn: str, connection: Connection) -> AsyncGenerator[Mapping[str, Enqueue]]:
    """Name → enqueue one job and return its id when it is committed."""
    async with (
        open_client(dsn, pool_size=1) as client,
        running_gateway(dsn) as (_, url),
        aiohttp.ClientSession() as session,
    ):

        async def by_http() -> int:
            async with session.post(f"{url}/api/jobs", json={"kind": KIND}) as response:
                response.raise_for_status()
                return int((await response.json())["id"])

        yield {"SQL": by_sql(connection), "the Python client": lambda: client.enqueue(KIND), "HTTP": by_http}
