"""SERIALIZABLE transactions that enqueue side by side: how many Postgres aborts while workers are idle, and without workers."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack

import asyncpg
import msgspec

from benchmarks.figures import Figure, Result, Say, Size
from benchmarks.server import Connection, Server, connected

SIZES = {"full": 10_000, "quick": 2_000, "tiny": 40}
PRODUCERS = 4
WORKERS = 2
REGISTER = """
select leasehold.register_worker(gen_random_uuid(), 'idle', 'host', 1, '0', '{default}', '{}', 3, true) from generate_series(1, $1)
"""
FIND_NOTHING = (
    "select leasehold.claim_jobs(w.incarnation, 'idle', '{default}', null, 1, '60 s') from leasehold.workers w"
)
TRANSACTION = (
    "begin isolation level serializable",
    "select leasehold.enqueue_job('page')",
    "commit",
)
TAKE = "delete from leasehold.jobs where id in (select id from leasehold.jobs for update skip locked)"


class Transactions(msgspec.Struct, frozen=True, kw_only=True):
    """`microseconds` is how long one took its producer, in the mean."""

    committed: int
    aborted: int
    microseconds: float


class SerializableResult(Result, frozen=True, kw_only=True):
    """The same transactions without workers and with."""

    alone: Transactions
    watched: Transactions


async def measure(server: Server, size: Size, say: Say) -> SerializableResult:
    """Each way has a database of its own, and as many producers at once."""
    measured: dict[int, Transactions] = {}
    for workers in (0, WORKERS):
        async with AsyncExitStack() as stack:
            dsn = await stack.enter_async_context(server.database())
            producers = [await stack.enter_async_context(connected(dsn)) for _ in range(PRODUCERS)]
            await producers[0].execute(REGISTER, workers)
            await producers[0].execute(FIND_NOTHING)
            say(f"{SIZES[size]} transactions, {workers} idle workers")
            measured[workers] = await _produce(producers, SIZES[size] // PRODUCERS)
    figures = [
        Figure(
            name=f"{workers} idle workers: aborted",
            value=100 * each.aborted / (each.aborted + each.committed),
            unit="%",
        )
        for workers, each in measured.items()
    ]
    return SerializableResult(figures=figures, alone=measured[0], watched=measured[WORKERS])


async def _produce(producers: list[Connection], each: int) -> Transactions:
    started = time.perf_counter()
    committed = sum(await asyncio.gather(*[_run(producer, each) for producer in producers]))
    seconds = time.perf_counter() - started
    return Transactions(
        committed=committed, aborted=len(producers) * each - committed, microseconds=1e6 * seconds / each
    )


async def _run(producer: Connection, transactions: int) -> int:
    committed = 0
    for _ in range(transactions):
        try:
            for statement in TRANSACTION:
                await producer.execute(statement)
            await producer.execute(TAKE)  # as workers do where jobs are few
            committed += 1
        except asyncpg.SerializationError:
            await producer.execute("rollback")
    return committed
