"""From the commit of a cancel to the handler's scope: `python -m benchmarks.cancel_latency [samples]`.

A real worker process runs one handler at a time; each waits for ever and notes when the cancellation reached it, by the
clock that both processes share.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
from pathlib import Path

from benchmarks.figures import Spread
from benchmarks.processes import running_worker, until
from benchmarks.server import Connection, Server, connected, open_server, run

SAMPLES = 300
RENEW_SECONDS = "0.5"
KINDS = ("until_cancelled", "until_cancelled_in_asyncio", "until_cancelled_in_a_thread")


async def measure(server: Server, kind: str, samples: int, *options: str) -> Spread:
    """One job after another."""
    with tempfile.TemporaryDirectory() as folder:
        async with server.database() as dsn, connected(dsn) as connection, running_worker(dsn, *options):
            waits = [await _cancel_one(connection, kind, Path(folder) / str(number)) for number in range(samples)]
    return Spread.of(waits)


async def _cancel_one(connection: Connection, kind: str, place: Path) -> float:
    enqueue = "select leasehold.enqueue_job($1, jsonb_build_object('place', $2::text))"
    job_id = await connection.fetchval(enqueue, kind, str(place))
    running = f"select exists (select from leasehold.jobs where id = {job_id} and state in ('claimed', 'running'))"
    await until(connection, running)
    await _written(place)
    await asyncio.sleep(random.uniform(0.01, 0.03))
    clock = asyncio.get_running_loop().time
    await connection.fetchval("select leasehold.cancel_job($1)", job_id)
    committed = clock()
    return float(await _written(place, at_least=2)) - committed


async def _written(place: Path, at_least: int = 0) -> str:
    """What the handler wrote, once it has."""
    while True:
        said = _read(place)
        if said is not None and len(said) >= at_least:
            return said
        await asyncio.sleep(0.0005)


def _read(place: Path) -> str | None:
    return place.read_text() if place.exists() else None


async def main(server: Server, samples: int) -> None:
    """Print the table."""
    for kind in KINDS:
        show(kind, await measure(server, kind, samples))
    deaf = ("--notify", "off", "--poll-seconds", "0.05", "--renew-seconds", RENEW_SECONDS)
    show(f"no notifications, renewed every {RENEW_SECONDS} s", await measure(server, KINDS[0], samples // 10, *deaf))


def show(name: str, spread: Spread) -> None:
    """A line of the table."""
    times = f"p50 {spread.p50:7.2f} ms  p99 {spread.p99:7.2f} ms  max {spread.longest:7.2f} ms"
    print(f"{name:<44}{spread.samples:>5} samples  {times}")


if __name__ == "__main__":
    with open_server(None) as server, server.template():
        run(main(server, int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES))
