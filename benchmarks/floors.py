"""What is there to beat: loops over raw asyncpg, without any engine around them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import UUID, uuid4

import msgspec

from benchmarks import narrow
from benchmarks.filling import QUEUE
from benchmarks.server import Connection

BATCH = 400

CLAIM = "select * from leasehold.claim_jobs(incarnation => $1, worker_id => 'floor', queues => $2, batch => $3)"
COMPLETE = "select * from leasehold.complete_jobs($1, $2, $3, $4, $5)"

Rows = Sequence[Any]
Step = Callable[[], Awaitable[Rows]]


class FloorRun(msgspec.Struct, frozen=True, kw_only=True):
    """A drain without an engine. CPU is that of the client process."""

    jobs_per_second: float
    cpu_us_per_job: float


async def drain_with_functions(claims: Connection, completes: Connection) -> FloorRun:
    """claim_jobs on one connection while complete_jobs runs on the other."""
    incarnation = uuid4()

    async def claim() -> Rows:
        return await claims.fetch(CLAIM, incarnation, [QUEUE], BATCH)

    return await _drain(claim, lambda rows: complete(completes, incarnation, rows))


async def complete(connection: Connection, incarnation: UUID, rows: Rows) -> None:
    """The jobs of these rows, which were claimed."""
    held = sorted((row["job_id"], row["attempt"]) for row in rows)
    ids, attempts = [i for i, _ in held], [a for _, a in held]
    await connection.fetch(COMPLETE, incarnation, ids, attempts, [None] * len(held), [0.0] * len(held))


async def drain_narrow(claims: Connection, completes: Connection) -> FloorRun:
    """The two shortest statements that claim and complete anything at all."""

    async def claim() -> Rows:
        return await claims.fetch(narrow.CLAIM, BATCH)

    return await _drain(claim, lambda rows: complete_narrow(completes, rows))


async def complete_narrow(connection: Connection, rows: Rows) -> None:
    """The same on the hand-written table."""
    held = sorted((row["id"], row["attempt"]) for row in rows)
    await connection.fetch(narrow.COMPLETE, [i for i, _ in held], [a for _, a in held])


async def _drain(claim: Step, complete: Callable[[Rows], Awaitable[None]]) -> FloorRun:
    started, cpu = time.perf_counter(), time.process_time()
    done = 0
    rows = await claim()
    while rows:
        _, following = await asyncio.gather(complete(rows), claim())
        done += len(rows)
        rows = following
    seconds = time.perf_counter() - started
    return FloorRun(jobs_per_second=done / seconds, cpu_us_per_job=(time.process_time() - cpu) / done * 1e6)
