"""What the catalogue of kinds costs those who enqueue: µs of the backend's CPU per job, beside jobs that nothing is asked of."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from statistics import median
from typing import Any

from benchmarks.figures import Figure, Result, Say, Size
from benchmarks.readings import cpu_clock
from benchmarks.server import Connection, Server, connected

ROUNDS = {"full": 15, "quick": 5, "tiny": 1}
CALLS = {"full": {1: 400, 10: 200, 1000: 12}, "quick": {1: 200, 10: 100, 1000: 6}, "tiny": {1: 3, 10: 2, 1000: 1}}
WARM_UP = 8  # Postgres plans the first five calls of a statement anew
ARGS = {"order_id": 42, "name": "Ada Lovelace"}
SCHEMA = {
    "type": "object",
    "properties": {"order_id": {"type": "integer"}, "name": {"type": "string"}},
    "required": ["order_id", "name"],
}
FILLED = {"queue": "orders", "max_attempts": 5}
OTHERS = 61
MANY = "select count(*) from leasehold.enqueue_jobs($1::jsonb, catalogue => $2)"
ONE = "select leasehold.enqueue_job($1, $2::jsonb, catalogue => $3)"
WAYS: Mapping[str, tuple[list[str], bool]] = {
    "catalogue false": (["flat"], False),
    "a kind that nobody declared": (["stranger"], True),
    "a flat schema": (["flat"], True),
    "a flat schema, queue and attempts to fill in": (["filled"], True),
    "kinds that nobody declared, mixed": (["stranger", "another"], True),
    "flat schemas, mixed": (["flat", "even"], True),
    "mixed, one of two to fill in": (["flat", "filled"], True),
}
"""Name → kinds of the jobs, in turns, and whether the catalogue is asked."""

Costs = dict[tuple[str, str], list[float]]


class KindsResult(Result, frozen=True, kw_only=True):
    """µs per job by way and size of the call, one for each round."""

    micros: Mapping[str, Mapping[str, list[float]]]


async def measure(server: Server, size: Size, say: Say) -> KindsResult:
    """All ways in turns, forth and back."""
    costs: Costs = defaultdict(list)
    async with server.database() as dsn, connected(dsn) as connection:
        await declare(connection)
        await connection.execute("set synchronous_commit = off")
        for number in range(-1, ROUNDS[size]):
            say(f"round {number}")
            for way in list(WAYS)[:: 1 if number % 2 else -1]:
                for name, cost in (await cost_of(connection, *WAYS[way], CALLS[size])).items():
                    costs[way, name].append(cost)
            await connection.execute("delete from leasehold.jobs")
            await connection.execute("vacuum leasehold.jobs")
            if number < 0:
                costs.clear()
    return KindsResult(figures=figures(costs), micros=by_way(costs))


async def declare(connection: Connection) -> None:
    """Three kinds that are enqueued, and others as a catalogue has them."""
    flat: dict[str, Any] = {"args_schema": SCHEMA}
    kinds = [{"kind": "flat", **flat}, {"kind": "even", **flat}, {"kind": "filled", **flat, **FILLED}]
    kinds += [{"kind": f"other_{n}", **flat, **FILLED} for n in range(OTHERS)]
    await connection.execute("select * from leasehold.declare_kinds($1)", json.dumps(kinds))


async def cost_of(
    connection: Connection, kinds: list[str], catalogue: bool, calls: Mapping[int, int]
) -> dict[str, float]:
    """One round: µs per job of calls with 1, 10 and 1,000 jobs, and of enqueue_job."""
    clock = cpu_clock(await connection.fetchval("select pg_backend_pid()"))

    async def cost(count: int, jobs: int, sql: str, *args: object) -> float:
        for _ in range(WARM_UP if jobs < 1000 else 1):
            await connection.fetch(sql, *args)
        began = clock()
        for _ in range(count):
            await connection.fetch(sql, *args)
        return (clock() - began) / count / jobs

    found: dict[str, float] = {}
    for jobs, count in calls.items():
        docs = [{"kind": kinds[n % len(kinds)], "args": ARGS} for n in range(jobs)]
        found[f"{jobs:,} at once"] = await cost(count, jobs, MANY, json.dumps(docs), catalogue)
    found["enqueue_job"] = await cost(calls[1], 1, ONE, kinds[0], json.dumps(ARGS), catalogue)
    return found


def by_way(costs: Costs) -> dict[str, dict[str, list[float]]]:
    """The rounds, to be written as JSON."""
    return {way: {name: rounds for (each, name), rounds in costs.items() if each == way} for way in WAYS}


def figures(costs: Costs) -> list[Figure]:
    """Medians beside those of jobs that nothing is asked of, and the cheapest rounds."""
    floor = {name: (median(rounds), min(rounds)) for (way, name), rounds in costs.items() if way == "catalogue false"}
    return [
        Figure(name=f"{way}: {name}{note}", value=pick(rounds), unit="µs", floor=floor[name][place])
        for (way, name), rounds in costs.items()
        for place, (note, pick) in enumerate([("", median), (", at best", min)])
    ]
