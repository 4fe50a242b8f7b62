"""What it costs to cross from trio to asyncio: `python -m benchmarks.crossings [ROUNDS]`.

CPU time of the process for each crossing, the best of five series: of a function that does nothing, of one that yields once, and of
`select 1` with a time limit. Each round is a process of its own.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import trio

from benchmarks.server import DRIVER, ROOT, open_server
from leasehold.concurrency.asyncio_border import cross, open_loop

CROSSINGS = 3_000
SERIES = 5
QUERY_SECONDS = 30.0


async def _nothing() -> None:
    pass


async def _series(cross: Callable[..., Awaitable[Any]], function: Callable[[], Awaitable[Any]], at_once: int) -> float:
    """Microseconds of CPU for each crossing."""

    async def go() -> None:
        for _ in range(CROSSINGS // at_once):
            await cross(function)

    before = time.process_time()
    async with trio.open_nursery() as nursery:
        for _ in range(at_once):
            nursery.start_soon(go)
    return (time.process_time() - before) / CROSSINGS * 1e6


async def _measure(dsn: str) -> None:
    async with open_loop():
        connection: Any = await cross(DRIVER.connect, dsn)

        async def ask() -> None:
            await connection.fetch("select 1", timeout=QUERY_SECONDS)

        async def pause() -> None:
            await asyncio.sleep(0)

        cases: tuple[tuple[str, Callable[[], Awaitable[Any]], int], ...] = (
            ("nothing", _nothing, 1),
            ("nothing, 8 at once", _nothing, 8),
            ("sleep(0)", pause, 1),
            ("select 1", ask, 1),
        )
        found = [f"{name} {min([await _series(cross, f, n) for _ in range(SERIES)]):.1f}" for name, f, n in cases]
        print("µs, ".join(found), "µs", flush=True)
        await cross(connection.close)


def main() -> None:
    """Rounds, one after the other."""
    if sys.argv[1:2] == ["--here"]:
        trio.run(_measure, sys.argv[2])
        return
    with open_server(None) as server:
        for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else 3):
            command = [sys.executable, "-W", "ignore", "-m", "benchmarks.crossings", "--here", server.dsn]
            subprocess.run(command, check=True, cwd=ROOT)


if __name__ == "__main__":
    main()
