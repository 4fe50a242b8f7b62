"""From the commit of an enqueue to the first line of the handler, by an idle worker."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping, Sequence

import msgspec

from benchmarks.bell import ringing
from benchmarks.callers import KIND, Enqueue, all_callers, by_sql
from benchmarks.figures import Figure, Result, Say, Size, Spread
from benchmarks.processes import running, running_worker, until
from benchmarks.server import Connection, Server, connected

SIZES = {"full": 300, "quick": 30, "tiny": 5}
PAUSE_SECONDS = (0.045, 0.085)
DUE_IN_SECONDS = (0.15, 0.35)
DEAF_POLL_SECONDS = 0.05
DEAF_PAUSE_SECONDS = (0.08, 0.14)

STARTS = """
select id as job_id, (output #>> '{}')::float8 as started, extract(epoch from created_at)::float8 as created,
       extract(epoch from run_at)::float8 as due
  from leasehold.finished_jobs where kind = $1
"""


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """Two readings of the same samples, both by the clock of this machine and by the handler's own look at it.

    Attributes:
        after_commit: from when the caller heard of the commit. A wake-up can overtake that news: then it is below 0.
        after_created: from created_at, which is before the commit. For jobs in the future: from run_at.
    """

    after_commit: Spread
    after_created: Spread


class PickupResult(Result, frozen=True, kw_only=True):
    """By way of enqueueing."""

    floor: Spread
    waits: Mapping[str, Waits]
    future: Spread
    deaf: Waits
    deaf_poll_ms: float


async def measure(server: Server, size: Size, say: Say) -> PickupResult:
    """Worker, scheduler and reaper run as they do for users; one job at a time, a random while apart."""
    samples = SIZES[size]
    async with (
        server.database() as dsn,
        connected(dsn) as connection,
        running(dsn, "run", "scheduler", "reaper"),
        running_worker(dsn),
    ):
        floor, waits = await _by_all_callers(dsn, connection, samples, say)
        say(f"{samples} jobs in the future")
        future = await _future(connection, samples)
    say(f"{samples} jobs with notifications off")
    async with server.database() as dsn, connected(dsn) as connection:
        poll = ("--notify", "off", "--poll-seconds", str(DEAF_POLL_SECONDS))
        async with running_worker(dsn, *poll):
            sent = await _send(by_sql(connection), samples, DEAF_PAUSE_SECONDS)
            deaf = _waits(sent, await _starts(connection))
    return PickupResult(
        figures=_figures(floor, waits, future, deaf),
        floor=floor,
        waits=waits,
        future=future,
        deaf=deaf,
        deaf_poll_ms=DEAF_POLL_SECONDS * 1000,
    )


async def _by_all_callers(dsn: str, connection: Connection, samples: int, say: Say) -> tuple[Spread, dict[str, Waits]]:
    """Every way and the floor take turns in random order, so that a busy machine is busy for all of them."""
    async with ringing(dsn, connection) as bell, all_callers(dsn, connection) as callers:
        sent: dict[str, dict[int, float]] = {name: {} for name in callers}
        for number in range(samples):
            for name in random.sample([*callers, "bell"], len(callers) + 1):
                if name == "bell":
                    await asyncio.sleep(random.uniform(*PAUSE_SECONDS))
                    await bell.ring()
                else:
                    sent[name] |= await _send(callers[name], 1, PAUSE_SECONDS)
            if (number + 1) % 100 == 0:
                say(f"{number + 1} of {samples} by {', '.join(callers)} each")
        starts = await _starts(connection)
        return Spread.of(bell.waits), {name: _waits(times, starts) for name, times in sent.items()}


async def _future(connection: Connection, samples: int) -> Spread:
    sent: dict[int, float] = {}
    for _ in range(samples):
        sent |= await _send(by_sql(connection, random.uniform(*DUE_IN_SECONDS)), 1, PAUSE_SECONDS)
    starts = await _starts(connection)
    return Spread.of([starts[job_id]["started"] - starts[job_id]["due"] for job_id in sent])


async def _send(enqueue: Enqueue, samples: int, pause: tuple[float, float]) -> dict[int, float]:
    """Enqueue one job after another. Returns when the caller heard of each commit, by job id."""
    sent: dict[int, float] = {}
    for _ in range(samples):
        await asyncio.sleep(random.uniform(*pause))
        job_id = await enqueue()
        sent[job_id] = time.time()
    return sent


async def _starts(connection: Connection) -> dict[int, Mapping[str, float]]:
    await until(connection, "select not exists (select from leasehold.jobs)")
    return {row["job_id"]: dict(row) for row in await connection.fetch(STARTS, KIND)}


def _waits(sent: Mapping[int, float], starts: Mapping[int, Mapping[str, float]]) -> Waits:
    return Waits(
        after_commit=Spread.of([starts[job_id]["started"] - committed for job_id, committed in sent.items()]),
        after_created=Spread.of([starts[job_id]["started"] - starts[job_id]["created"] for job_id in sent]),
    )


def _figures(floor: Spread, waits: Mapping[str, Waits], future: Spread, deaf: Waits) -> Sequence[Figure]:
    figures: list[Figure] = []
    for name, wait in waits.items():
        goals = {} if name == "the Python client" else {"p50": 10.0, "p99": 30.0}
        figures += wait.after_commit.figures(f"by {name}, after the commit", floor, **goals)
        figures += wait.after_created.figures(f"by {name}, after created_at")
    figures += future.figures("a job in the future, after its time", p99=20.0)
    poll = f"notifications off, poll every {DEAF_POLL_SECONDS * 1000:g} ms"
    return [*figures, *deaf.after_commit.figures(poll)]
