"""Enqueueing: one job at a time and many in one statement, beside the bare INSERT of the same rows."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from benchmarks.figures import Figure, Result, Say, Size, middle
from benchmarks.filling import ARGS, QUEUE
from benchmarks.readings import wal_position
from benchmarks.server import Connection, Server, connected
from leasehold import Client, NewJob, open_client

SIZES = {"full": (1_000, 100, 5), "quick": (300, 30, 2), "tiny": (20, 2, 1)}
BATCH = 1_000

INSERT = """
insert into leasehold.jobs (created_at, run_at, state, priority, max_attempts, kind, queue, args)
select t.now, t.now, 'pending', 0, 20, u.kind, u.queue, u.args
  from unnest($1::text[], $2::text[], $3::jsonb[]) u(kind, queue, args), (select clock_timestamp() as now) t
"""
FUNCTION = "select leasehold.enqueue_job('page', $1, queue => $2)"

Call = Callable[[], Awaitable[object]]


class Speed(msgspec.Struct, frozen=True, kw_only=True):
    """One caller on one connection, waiting for each commit before the next call."""

    jobs_per_second: float
    wal_bytes_per_job: float


class EnqueueResult(Result, frozen=True, kw_only=True):
    """All rounds by way of enqueueing, in the order they ran."""

    batch: int
    rounds: Mapping[str, Sequence[Speed]]


async def measure(server: Server, size: Size, say: Say) -> EnqueueResult:
    """Each round runs every way in turn, on one database that keeps growing."""
    singles, batches, rounds = SIZES[size]
    measured: dict[str, list[Speed]] = {}
    async with server.database() as dsn, connected(dsn) as connection, open_client(dsn, pool_size=1) as client:
        for number in range(rounds):
            for name, (call, calls, jobs) in _ways(connection, client, singles, batches).items():
                measured.setdefault(name, []).append(await _speed(connection, call, calls, jobs))
            say(
                f"round {number + 1} of {rounds}: "
                + ", ".join(f"{n} {s[-1].jobs_per_second:,.0f}/s" for n, s in measured.items())
            )
    speed = {name: middle([each.jobs_per_second for each in speeds]) for name, speeds in measured.items()}
    wal = {name: middle([each.wal_bytes_per_job for each in speeds]) for name, speeds in measured.items()}
    pairs = (
        ("client.enqueue, one by one", "client", "insert one"),
        ("enqueue_job in SQL, one by one", "function", "insert one"),
        (f"client.enqueue_many, {BATCH} at once", "client many", "insert many"),
    )
    figures = [Figure(name=name, value=speed[way], unit="jobs/s", floor=speed[floor]) for name, way, floor in pairs]
    figures += [
        Figure(name=f"{name}, WAL", value=wal[way], unit="bytes/job", floor=wal[floor]) for name, way, floor in pairs
    ]
    return EnqueueResult(figures=figures, batch=BATCH, rounds=measured)


def _ways(connection: Connection, client: Client, singles: int, batches: int) -> dict[str, tuple[Call, int, int]]:
    """Name → what to call, how often, and how many jobs one call makes."""
    args = msgspec.Raw(ARGS.encode())
    many = [NewJob(kind="page", args=args, queue=QUEUE) for _ in range(BATCH)]

    def columns(jobs: int) -> tuple[list[str], list[str], list[str]]:
        return ["page"] * jobs, [QUEUE] * jobs, [ARGS] * jobs

    return {
        "insert one": (lambda: connection.execute(INSERT, *columns(1)), singles, 1),
        "function": (lambda: connection.fetchval(FUNCTION, ARGS, QUEUE), singles, 1),
        "client": (lambda: client.enqueue_many(many[:1]), singles, 1),
        "insert many": (lambda: connection.execute(INSERT, *columns(BATCH)), batches, BATCH),
        "client many": (lambda: client.enqueue_many(many), batches, BATCH),
    }


async def _speed(connection: Connection, call: Call, calls: int, jobs: int) -> Speed:
    await call()
    wal, started = await wal_position(connection), time.perf_counter()
    for _ in range(calls):
        await call()
    seconds = time.perf_counter() - started
    written = await wal_position(connection) - wal
    return Speed(jobs_per_second=calls * jobs / seconds, wal_bytes_per_job=written / (calls * jobs))
