"""Jobs in transactions of the caller, by the connection: what is left of them, when a worker starts, what it costs."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

import msgspec

from benchmarks.bell import ringing
from benchmarks.callers import KIND
from benchmarks.counting import Counted, counting
from benchmarks.figures import Figure, Result, Say, Size, Spread
from benchmarks.owned import CONNECTIONS, TABLE, Owned
from benchmarks.pickup import PAUSE_SECONDS, STARTS
from benchmarks.processes import running_worker, until
from benchmarks.server import Connection, Server, connected
from leasehold import NewJob, Unique
from leasehold.errors import UniqueConflict

SIZES = {"full": 100, "quick": 20, "tiny": 3}
TAKEN: NewJob[None] = NewJob(kind="taken", queue="nobody", unique=Unique(by=["kind"], on_conflict="reject"))
COUNT = (
    "select (select count(*) from leasehold.jobs where kind = 'kept') as jobs, (select count(*) from orders) as orders"
)


class Left(msgspec.Struct, frozen=True):
    """Rows after a transaction: jobs, and the caller's own."""

    jobs: int
    orders: int


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One connection.

    Attributes:
        left: by how the transaction ended.
        statements: how many an enqueue adds to a transaction, at the most of all that were looked at.
        wake: from the end of the commit to the start of the handler in an idle worker.
        bare: from the end of a commit with a bare NOTIFY to the answer of a process that does nothing but claim.
    """

    left: Mapping[str, Left]
    statements: int
    wake: Spread
    bare: Spread


class ConnectionsResult(Result, frozen=True, kw_only=True):
    """By connection."""

    rows: Mapping[str, Row]


class Undone(Exception):
    """Ends a block of the caller's."""


async def committed(owned: Owned) -> None:
    """Both stay."""
    async with owned.transaction():
        await owned.write()
        await owned.enqueue(NewJob(kind="kept", queue="nobody"))


async def rolled_back(owned: Owned) -> None:
    """Neither stays."""
    with suppress(Undone):
        async with owned.transaction():
            await owned.write()
            await owned.enqueue(NewJob(kind="kept", queue="nobody"))
            raise Undone


async def back_to_savepoint(owned: Owned) -> None:
    """One of two jobs stays, and one of two rows."""
    async with owned.transaction():
        await owned.write()
        await owned.enqueue(NewJob(kind="kept", queue="nobody"))
        with suppress(Undone):
            async with owned.savepoint():
                await owned.write()
                await owned.enqueue(NewJob(kind="kept", queue="nobody"))
                raise Undone


async def refused(owned: Owned) -> None:
    """Postgres refuses a job inside a savepoint, and the transaction goes on: the row before it stays."""
    async with owned.transaction():
        await owned.write()
        with suppress(UniqueConflict):
            async with owned.savepoint():
                await owned.write()
                await owned.enqueue(NewJob(kind="kept", queue="nobody"))
                await owned.enqueue(TAKEN)


ENDINGS: Mapping[str, Callable[[Owned], Awaitable[None]]] = {
    "commit": committed,
    "rollback": rolled_back,
    "savepoint": back_to_savepoint,
    "error": refused,
}
EXPECTED: Mapping[str, Left] = {
    "commit": Left(1, 1),
    "rollback": Left(0, 0),
    "savepoint": Left(1, 1),
    "error": Left(0, 1),
}


async def measure(server: Server, size: Size, say: Say) -> ConnectionsResult:
    """What is left and what it costs through a proxy that counts; wake-ups without it, with a worker beside it."""
    rows: dict[str, Row] = {}
    for name in [*CONNECTIONS][1::3] if size == "tiny" else CONNECTIONS:
        say(name)
        async with server.database() as dsn, connected(dsn) as connection:
            await connection.execute(TABLE)
            with counting(dsn) as counted:
                left, statements = await look(name, counted, connection)
            wake, bare = await _wake(name, dsn, connection, SIZES[size])
        rows[name] = Row(left=left, statements=statements, wake=wake, bare=bare)
    for line in table(rows):
        say(line)
    return ConnectionsResult(figures=_figures(rows), rows=rows)


async def look(name: str, counted: Counted, connection: Connection) -> tuple[dict[str, Left], int]:
    """What is left by the ending, and how many statements an enqueue adds. `connection`: an eye of our own."""
    left: dict[str, Left] = {}
    async with CONNECTIONS[name](counted.dsn) as owned:
        async with owned.transaction():
            await owned.enqueue(TAKEN)
        for ending, work in ENDINGS.items():
            await connection.execute("delete from orders")
            await connection.execute("delete from leasehold.jobs where kind = 'kept'")
            await work(owned)
            [row] = await connection.fetch(COUNT)
            left[ending] = Left(row["jobs"], row["orders"])
        return left, await _statements(owned, counted)


async def _statements(owned: Owned, counted: Counted) -> int:
    async with owned.transaction():
        await owned.write()
        counts: list[int] = []
        for _ in range(12):  # drivers prepare what comes again
            before = len(counted.statements)
            await owned.enqueue(NewJob(kind="counted", queue="nobody"))
            counts.append(len(counted.statements) - before)
    return max(counts)


async def _wake(name: str, dsn: str, connection: Connection, samples: int) -> tuple[Spread, Spread]:
    """Of a job, and of a bare claim after a bare NOTIFY, in turn."""
    sent: dict[int, float] = {}
    async with running_worker(dsn), ringing(dsn, connection) as bell, CONNECTIONS[name](dsn) as owned:
        for _ in range(samples):
            await asyncio.sleep(random.uniform(*PAUSE_SECONDS))
            await bell.ring()
            await asyncio.sleep(random.uniform(*PAUSE_SECONDS))
            async with owned.transaction():
                await owned.write()
                job_id = await owned.enqueue(NewJob(kind=KIND))
            sent[job_id] = time.time()
        await until(connection, f"select not exists (select from leasehold.jobs where kind = '{KIND}')")
        starts = {row["job_id"]: row["started"] for row in await connection.fetch(STARTS, KIND)}
        return Spread.of([starts[job_id] - at for job_id, at in sent.items()]), Spread.of(bell.waits)


def table(rows: Mapping[str, Row]) -> Sequence[str]:
    """As docs/sync.md has it."""
    heads = ["connection", *ENDINGS, "statements added", "wake-up p50", "bare NOTIFY p50"]
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    for name, row in rows.items():
        left = [f"{each.jobs} job{'' if each.jobs == 1 else 's'}, {each.orders} of yours" for each in row.left.values()]
        lines.append(
            f"| {' | '.join([name, *left, str(row.statements), f'{row.wake.p50:.1f} ms', f'{row.bare.p50:.1f} ms'])} |"
        )
    return lines


def _figures(rows: Mapping[str, Row]) -> Sequence[Figure]:
    figures: list[Figure] = []
    for name, row in rows.items():
        for ending, left in row.left.items():
            wanted = EXPECTED[ending].jobs
            figures.append(
                Figure(name=f"{name}: {ending}", value=left.jobs, unit="jobs", at_least=wanted, at_most=wanted)
            )
        figures.append(Figure(name=f"{name}: statements added", value=row.statements, unit="", at_most=1))
        figures += row.wake.figures(f"{name}: wake-up after the commit", row.bare, p50=10.0)
    return figures
