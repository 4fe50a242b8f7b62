"""The one place where a test waits for what another connection does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

import trio
from outcome import Outcome, acapture

from leasehold.database import Caller, Database, ReservedConnection, Transaction
from leasehold.database.border import listen
from tests.support.sql_jobs import Scripted
from tests.support.waiting import PATIENCE, eventually

T = TypeVar("T")


async def until_waiting(caller: Caller, name: str) -> None:
    """Return when the reserved connection of that name waits for a lock that somebody else has."""
    question = (
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' "
        "and application_name = 'leasehold ' || $1"
    )

    async def probe() -> bool:
        return (await caller.fetch(question, name))[0][0] > 0

    await eventually(probe)


async def until_tried(caller: Caller, name: str) -> None:
    """Return when the reserved connection of that name has sent a call to one of our functions: it waits, or was told `busy`."""
    question = (
        "select count(*) from pg_stat_activity where datname = current_database() "
        "and application_name = 'leasehold ' || $1 and query like 'select * from leasehold.%'"
    )

    async def probe() -> bool:
        return (await caller.fetch(question, name))[0][0] > 0

    await eventually(probe)


OUTCOMES = ("block_jobs", "cancel_job", "cancel_jobs", "complete_jobs", "continue_jobs", "fail_jobs", "return_jobs")
IMPATIENT = """
select p.oid::regprocedure::text as name from pg_proc p
 where p.pronamespace = 'leasehold'::regnamespace and p.proname = any ($1) and p.proconfig::text like '%lock_timeout=%'
"""


async def be_patient(fresh_database: Database, *functions: str) -> None:
    """Have these functions, by default all that write outcomes, wait for a lock until they have it. They give up after half a
    second, or two, which a busy machine may need to let go of it; a deadlock is still found, by Postgres.
    """
    found = await fresh_database.fetch(IMPATIENT, list(functions or OUTCOMES))
    assert len(found) == len(functions or OUTCOMES)
    for row in found:
        await fresh_database.execute(f"alter function {row['name']} reset lock_timeout")


@asynccontextmanager
async def open_transaction(database: Database, name: str) -> AsyncGenerator[ReservedConnection]:
    """A connection with a transaction that stays open; it is rolled back unless the block executes `commit`."""
    async with database.reserve(name) as reserved:
        await reserved.execute("begin")
        yield reserved


async def meet(
    database: Database,
    first: Callable[[ReservedConnection], Awaitable[object]],
    second: Callable[[ReservedConnection], Awaitable[T]],
    end: str = "commit",
) -> T:
    """What the second is answered, which waits for the transaction of the first until that ends so. Raises what it is refused."""
    answers: list[Outcome[T]] = []
    has_ended = False

    async def follow() -> None:
        async with database.reserve("second") as reserved:
            answers.append(await acapture(second, reserved))
        assert has_ended, f"the second waited for nobody: {answers}"

    async with trio.open_nursery() as nursery, open_transaction(database, "first") as reserved:
        await first(reserved)
        nursery.start_soon(follow)
        await until_waiting(database, "second")
        has_ended = True
        await reserved.execute(end)
    return answers[0].unwrap()


async def meet_twice(database: Database, act: Callable[[ReservedConnection], Awaitable[T]], end: str = "commit") -> T:
    """What the second of two is answered that do the same."""
    return await meet(database, act, act, end)


async def freeze(caller: Scripted, at: str) -> None:
    """Set the clock of this connection (a reserved or a transaction, not a pool)."""
    await caller.execute(f"set leasehold.frozen_clock = '{at}'")


@asynccontextmanager
async def frozen(database: Database, at: str) -> AsyncGenerator[ReservedConnection]:
    """A connection whose clock stands still, until the block freezes it anew."""
    async with database.reserve("frozen") as reserved:
        await freeze(reserved, at)
        yield reserved


class _UndoneError(Exception):
    """Ends a transaction that was never to commit."""


@asynccontextmanager
async def rolled_back(database: Database) -> AsyncGenerator[Transaction]:
    """A transaction that is rolled back with the block, as when the caller's own code fails."""
    with suppress(_UndoneError):
        async with database.transaction() as transaction:
            yield transaction
            raise _UndoneError


async def heard(database: Database, act: Callable[[], Awaitable[object]]) -> list[str]:
    """The notifications that `act` sends, sorted."""
    payloads: list[str] = []
    async with listen(database, "leasehold") as listening:
        await act()
        await listening.notify("leasehold", "end", PATIENCE)
        with trio.fail_after(PATIENCE):
            while (payload := await listening.payloads.receive()) != "end":
                payloads.append(payload)
    return sorted(payloads)
