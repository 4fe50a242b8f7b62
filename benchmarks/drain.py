"""Draining pre-enqueued no-op jobs: everything that a job costs besides its handler."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import msgspec

from benchmarks.figures import Figure, Result, Say, Size, middle
from benchmarks.filling import ARGS, QUEUE, fill, fill_narrow
from benchmarks.floors import FloorRun, drain_narrow, drain_with_functions
from benchmarks.meter import Meter
from benchmarks.processes import running_worker
from benchmarks.readings import read_counters
from benchmarks.server import Server, connected

SIZES = {"full": (100_000, 3), "quick": (20_000, 1), "tiny": (500, 1)}
SLOTS = 10
GROUPS = 50
# Limits that never bind: what they cost is the counting and the taking of turns.
AMPLE = "select leasehold.set_limit($1, max_running => 100000, rate => 1000000)"
AMPLE_EACH = "select leasehold.set_limit($1, '*', max_running => 100000)"

SPAN = """
select count(*)::float8 / extract(epoch from max(finished_at) - min(claimed_at))::float8
  from leasehold.finished_jobs where state = 'completed'
"""


class WorkerRun(msgspec.Struct, frozen=True, kw_only=True):
    """One drain by worker processes.

    Attributes:
        jobs_per_second: by the database: from the first claimed_at to the last finished_at.
        wall_jobs_per_second: by our clock: from letting them go until the table was seen empty.
        cpu_us_per_job: user and system time of all workers. postgres_cpu_us_per_job: of the server, 0 if not ours.
        wal_bytes_per_job, commits_per_job, row_versions_per_job: of claiming and completing, not of enqueueing.
        peak_mb: the largest resident memory of a worker, looked at every 50 ms.
    """

    workers: int
    jobs_per_second: float
    wall_jobs_per_second: float
    cpu_us_per_job: float
    postgres_cpu_us_per_job: float
    wal_bytes_per_job: float
    commits_per_job: float
    row_versions_per_job: float
    peak_mb: float


class DrainResult(Result, frozen=True, kw_only=True):
    """All rounds, in the order they ran. `pinned` drains half as many jobs as the others."""

    jobs: int
    slots: int
    functions: Sequence[FloorRun]
    narrow: Sequence[FloorRun]
    runs: Mapping[str, Sequence[WorkerRun]]


async def measure(server: Server, size: Size, say: Say) -> DrainResult:
    """Rounds of: both floors, one worker process, two; each on a fresh database."""
    jobs, rounds = SIZES[size]
    runs: dict[str, list[WorkerRun]] = {"one": [], "two": [], "laden": [], "pinned": [], "limited": [], "grouped": []}
    functions: list[FloorRun] = []
    narrow: list[FloorRun] = []
    for number in range(rounds):
        functions.append(await _functions_floor(server, jobs))
        narrow.append(await _narrow_floor(server, jobs))
        runs["one"].append(await drain(server, jobs, 1))
        runs["two"].append(await drain(server, jobs, 2))
        runs["laden"].append(await drain(server, jobs, 1, kind="page", args=ARGS))
        runs["pinned"].append(await drain(server, jobs // 2, 1, is_pinned=True))
        runs["limited"].append(await drain(server, jobs, 1, limit=AMPLE))
        runs["grouped"].append(await drain(server, jobs, 1, limit=AMPLE_EACH, groups=GROUPS))
        latest = ", ".join(f"{name} {measured[-1].jobs_per_second:,.0f}" for name, measured in runs.items())
        floors = f"{functions[-1].jobs_per_second:,.0f}, narrow {narrow[-1].jobs_per_second:,.0f}"
        say(f"round {number + 1} of {rounds}, jobs/s: floors {floors}, {latest}")
    figures = [
        *_figures("one worker", runs["one"], functions, goal=30_000),
        *_figures("two workers", runs["two"], functions),
        *_figures("one worker, 200 bytes of args, as much output", runs["laden"])[:3],
        *_figures("one worker, a transaction open all the while", runs["pinned"])[:3],
        *_limited("max_running and a rate for the queue", runs["limited"], runs["one"]),
        *_limited(f"max_running for each of {GROUPS} groups", runs["grouped"], runs["one"]),
        _compare("the SQL functions without a worker, beside a narrow table", functions, narrow),
    ]
    return DrainResult(figures=figures, jobs=jobs, slots=SLOTS, functions=functions, narrow=narrow, runs=runs)


async def drain(
    server: Server,
    jobs: int,
    workers: int,
    *,
    kind: str = "noop",
    args: str = "{}",
    is_pinned: bool = False,
    limit: str = "",
    groups: int = 0,
    slots: int = SLOTS,
) -> WorkerRun:
    """One drain. The queue is paused until the workers are up: starting Python is not measured.

    With `is_pinned` somebody holds a snapshot from before the first claim, so that no vacuum removes what claims leave.
    `limit`: a statement that limits the queue. `groups`: among how many key groups the jobs are divided.
    """
    async with server.database() as dsn:
        async with connected(dsn) as connection:
            await connection.execute("select leasehold.pause_queue($1)", QUEUE)
            await fill(connection, jobs, kind=kind, args=args, groups=groups)
            if limit:
                await connection.execute(limit, QUEUE)
        before = await read_counters(server, dsn)
        async with AsyncExitStack() as stack:
            processes = [
                await stack.enter_async_context(running_worker(dsn, "--slots", str(slots))) for _ in range(workers)
            ]
            if is_pinned:
                await stack.enter_async_context(_snapshot(dsn))
            connection = await stack.enter_async_context(connected(dsn))
            meter = Meter(server, connection, processes)
            await meter.start()
            await connection.execute("select leasehold.resume_queue($1)", QUEUE)
            await meter.watch()
            spent = await meter.stop()
        after = (await read_counters(server, dsn)).since(before)
        async with connected(dsn) as connection:
            speed = float(await connection.fetchval(SPAN))
        ours = meter.asked + sum(process.asked for process in processes)
        return WorkerRun(
            workers=workers,
            jobs_per_second=speed,
            wall_jobs_per_second=jobs / spent.seconds,
            cpu_us_per_job=spent.cpu_seconds / jobs * 1e6,
            postgres_cpu_us_per_job=spent.postgres_cpu_seconds / jobs * 1e6,
            wal_bytes_per_job=spent.wal_bytes / jobs,
            commits_per_job=(after.commits - ours) / jobs,
            row_versions_per_job=after.row_versions / jobs,
            peak_mb=meter.peak_mb,
        )


@asynccontextmanager
async def _snapshot(dsn: str) -> AsyncGenerator[None]:
    async with connected(dsn) as connection:
        await connection.execute("begin isolation level repeatable read; select from leasehold.jobs limit 1")
        yield


async def _functions_floor(server: Server, jobs: int) -> FloorRun:
    async with server.database() as dsn, connected(dsn) as claims, connected(dsn) as completes:
        await fill(claims, jobs)
        return await drain_with_functions(claims, completes)


async def _narrow_floor(server: Server, jobs: int) -> FloorRun:
    async with server.database() as dsn, connected(dsn) as claims, connected(dsn) as completes:
        await fill_narrow(claims, jobs)
        return await drain_narrow(claims, completes)


def _figures(
    who: str, runs: Sequence[WorkerRun], floors: Sequence[FloorRun] = (), *, goal: float | None = None
) -> list[Figure]:
    def of(field: str) -> float:
        return middle([getattr(run, field) for run in runs])

    def floor(field: str) -> float | None:
        return middle([getattr(each, field) for each in floors]) if floors else None

    speed, cpu = floor("jobs_per_second"), floor("cpu_us_per_job")
    return [
        Figure(name=who, value=of("jobs_per_second"), unit="jobs/s", floor=speed, at_least=goal),
        Figure(name=f"{who}: CPU of Python", value=of("cpu_us_per_job"), unit="µs/job", floor=cpu),
        Figure(name=f"{who}: CPU of Postgres", value=of("postgres_cpu_us_per_job"), unit="µs/job"),
        Figure(name=f"{who}: by the wall clock", value=of("wall_jobs_per_second"), unit="jobs/s", floor=speed),
        Figure(name=f"{who}: WAL", value=of("wal_bytes_per_job"), unit="bytes/job"),
        Figure(name=f"{who}: commits", value=of("commits_per_job"), unit="/job"),
        Figure(name=f"{who}: row versions", value=of("row_versions_per_job"), unit="/job"),
        Figure(name=f"{who}: peak memory", value=of("peak_mb"), unit="MB"),
    ]


def _limited(name: str, runs: Sequence[WorkerRun], free: Sequence[WorkerRun]) -> list[Figure]:
    ratios = [run.jobs_per_second / other.jobs_per_second for run, other in zip(runs, free, strict=True)]
    cpu = middle([run.postgres_cpu_us_per_job for run in runs])
    return [
        Figure(name=f"{name}, not binding", value=middle([run.jobs_per_second for run in runs]), unit="jobs/s"),
        Figure(name=f"{name}: CPU of Postgres", value=cpu, unit="µs/job"),
        Figure(name=f"{name}: speed against no limits, one worker", value=middle(ratios), unit="×", at_least=0.7),
    ]


def _compare(name: str, runs: Sequence[FloorRun], floors: Sequence[FloorRun]) -> Figure:
    speed, floor = middle([run.jobs_per_second for run in runs]), middle([run.jobs_per_second for run in floors])
    return Figure(name=name, value=speed, unit="jobs/s", floor=floor)
