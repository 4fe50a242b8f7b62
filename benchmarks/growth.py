"""Whether anything becomes dearer as the database fills: µs of Postgres' CPU per call, from a thousand finished jobs up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

from benchmarks.chart import Panel, draw
from benchmarks.figures import Figure, Result, Say, Size
from benchmarks.filling import fill_history
from benchmarks.floors import complete
from benchmarks.readings import cpu_clock
from benchmarks.server import Connection, Server, connected

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "growth.svg"
FINISHED = {
    "full": (1_000, 10_000, 100_000, 1_000_000, 10_000_000),
    "quick": (1_000, 10_000, 100_000),
    "tiny": (100, 1_000),
}
CALLS = {"full": 40, "quick": 20, "tiny": 3}
WARM_UP = 6  # Postgres plans the first five calls of a statement anew
CLAIMED = 10
TIMES_DEARER = 2.0
READS = {
    "get_job, a finished one": "select * from leasehold.get_job($1::int)",
    "list_jobs, the newest page": "select * from leasehold.list_jobs(state => 'completed', page_size => 50 + $1::int % 2)",
    "list_key_jobs": "select * from leasehold.list_key_jobs('key ' || $1::int * 2 % 200000)",
    "get_capacity of a queue": "select * from leasehold.get_capacity('queue ' || $1::int % 10)",
    "desired_workers of a queue": "select leasehold.desired_workers('queue ' || $1::int % 10)",
    "get_rates of a queue": "select * from leasehold.get_rates('queue ' || $1::int % 10)",
}
PANELS = {
    "writes, µs per call": ("enqueue_job", "claim_jobs, 10", "complete_jobs, 10"),
    "reads, µs per call": tuple(READS),
}
CLAIM = """
select job_id, attempt from leasehold.claim_jobs(incarnation => $1, worker_id => 'bench', batch => $2)
"""
Costs = dict[str, list[float]]


class GrowthResult(Result, frozen=True, kw_only=True):
    """µs of Postgres' CPU per call, by name of the call, one for each number of finished jobs."""

    finished: Sequence[int]
    micros: Mapping[str, Sequence[float]]


async def measure(server: Server, size: Size, say: Say) -> GrowthResult:
    """A database for each number of finished jobs: filled, then every call some dozens of times."""
    micros: dict[str, list[float]] = {}
    for finished in FINISHED[size]:
        say(f"{finished:,} finished jobs")
        async with server.database() as dsn, connected(dsn) as connection:
            await fill_history(connection, finished)
            for name, costs in (await _calls(connection, finished, CALLS[size])).items():
                micros.setdefault(name, []).append(median(costs))
    if size == "full":
        PICTURE.write_text(_picture(FINISHED[size], micros))
    return GrowthResult(figures=_figures(FINISHED[size], micros), finished=FINISHED[size], micros=micros)


async def _calls(connection: Connection, finished: int, calls: int) -> Costs:
    await connection.execute("set synchronous_commit = off")
    clock = cpu_clock(await connection.fetchval("select pg_backend_pid()"))
    costs: Costs = {}

    async def cost(name: str, call: Callable[[], Awaitable[Any]]) -> Any:
        began = clock()
        answer = await call()
        costs.setdefault(name, []).append(clock() - began)
        return answer

    for number in range(WARM_UP + calls):
        if number == WARM_UP:
            costs.clear()
        for name, read in READS.items():
            await cost(name, lambda read=read, number=number: connection.fetch(read, 1 + number * 7919 % finished))
        await cost("enqueue_job", lambda: connection.fetch("select * from leasehold.enqueue_job('noop', '{}')"))
        incarnation = uuid4()
        rows = await cost("claim_jobs, 10", lambda who=incarnation: connection.fetch(CLAIM, who, CLAIMED))
        await cost("complete_jobs, 10", lambda who=incarnation, rows=rows: complete(connection, who, rows))
    return costs


def _figures(finished: Sequence[int], micros: Mapping[str, Sequence[float]]) -> list[Figure]:
    return [
        Figure(
            name=f"{name}: {finished[-1]:,} finished jobs against {finished[0]:,}",
            value=costs[-1],
            unit="µs",
            floor=costs[0],
            at_most=TIMES_DEARER * costs[0],
        )
        for name, costs in micros.items()
    ]


def _picture(finished: Sequence[int], micros: Mapping[str, Sequence[float]]) -> str:
    panels = [Panel(title, {name: micros[name] for name in names}) for title, names in PANELS.items()]
    return draw("What calls cost as the database fills", panels, [f"{count:,}" for count in finished])
