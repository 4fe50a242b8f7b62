"""Steps of a migration that never hold others up for a second: a step that is in the way gives way and tries again.

A step is a transaction. It waits for a lock for less than a second, because whoever wants the same table waits behind it. A
watch on a second connection looks whether anybody waits for the step, whatever it holds; then it is undone, too. Indexes are
made outside a transaction, while everybody goes on working.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec
import trio

from leasehold.database.migrations.catalogue import PREAMBLE, Migration
from leasehold.database.migrations.state import Applied
from leasehold.database.waits import WAITS, describe_wait, lookouts
from leasehold.errors import DatabaseUnavailable, LeaseholdError, QueryRefused

if TYPE_CHECKING:
    from leasehold.database import Database, ReservedConnection, Transaction

LONGEST_STATEMENT = 900.0  # seconds for one statement; another runner may be at it

T = TypeVar("T")
Work = Callable[["Transaction"], Awaitable[T]]

PATIENCE = 300.0  # seconds over all tries of one step
LOCK_SECONDS = 0.8  # that a step waits for a lock
CROWD_SECONDS = 0.4  # that somebody else may wait for a step
LOOK_SECONDS = 0.1
# Between tries: long enough for those who waited, soon short against what holds for long.
PAUSES = (0.2, 0.5, 1.0, 2.0)
LONGEST_PAUSE = 5.0
GIVES_WAY = {"55P03", "40P01"}  # lock timeout, deadlock
# Autovacuum yields to whoever has waited for deadlock_timeout, which is a second by default.
BRIEFLY = f"""
set local lock_timeout = '{LOCK_SECONDS}s';
do $$ begin perform set_config('deadlock_timeout', '200ms', true); exception when insufficient_privilege then null; end $$;
"""

LONGEST_BUILD = 7 * 86400.0  # seconds
LOG_SECONDS = 5.0
MAKES_INDEX = re.compile(
    r"create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(?:leasehold\.)?(\w+)\s+on\s+(leasehold\.\w+)",
    re.IGNORECASE,
)


async def run_named(session: Transaction, title: str, text: str) -> None:
    """Run a script. Raises what Postgres says, with the name of what was tried."""
    try:
        await session.execute(text, timeout=LONGEST_STATEMENT)
    except LeaseholdError as error:
        raise named(title, error) from error


async def attempt(session: Transaction, text: str) -> LeaseholdError | None:
    """Run a script, and if Postgres refuses, leave the transaction as it was and return the refusal."""
    await session.execute("savepoint attempt")
    try:
        await session.execute(text, timeout=LONGEST_STATEMENT)
    except DatabaseUnavailable:
        raise
    except LeaseholdError as error:
        await session.execute("rollback to savepoint attempt")
        return error
    await session.execute("release savepoint attempt")
    return None


def named(title: str, error: LeaseholdError) -> LeaseholdError:
    """The same error, saying what could not be applied."""
    text = f"{title} could not be applied, nothing was changed: {error}"
    if isinstance(error, DatabaseUnavailable):
        return DatabaseUnavailable(text)
    return QueryRefused(text, sqlstate=sqlstate_of(error))


def sqlstate_of(error: BaseException) -> str | None:
    """Of Postgres itself, where the error of ours has none or its own."""
    cause: BaseException | None = error
    while cause is not None:
        if not isinstance(cause, LeaseholdError) and isinstance(state := getattr(cause, "sqlstate", None), str):
            return state
        cause = cause.__cause__
    return error.sqlstate if isinstance(error, LeaseholdError) else None


class StepResult(msgspec.Struct, Generic[T]):
    """Of one try. Without `value` it gave way, for this `reason`."""

    value: tuple[T] | None = None
    reason: str = ""


class StepWatch:
    """Looks who keeps a step waiting and whom it keeps waiting; ends it where somebody has waited for too long."""

    def __init__(self, database: Database, pid: int, scope: trio.CancelScope) -> None:
        self._database = database
        self._pid = pid
        self._scope = scope
        self.holders = ""
        self.crowd = ""
        self.error: LeaseholdError | None = None

    async def run(self) -> None:
        """Look until cancelled."""
        while not self.crowd and self.error is None:
            await trio.sleep(LOOK_SECONDS)
            try:
                rows = await self._database.fetch(WAITS, self._pid, CROWD_SECONDS)
            except LeaseholdError as error:
                self.error = error
                break
            if wait := describe_wait(rows):
                self.holders = f"waits for {wait}"
            self.crowd = " and ".join(row["who"] for row in rows if not row["holds"])
        self._scope.cancel()


class Steps:
    """Runs steps one after the other, each until it is done.

    Args:
        database: with two connections at least.
        say: gets a line each time a step has to give way for another reason.
        patience: seconds for all tries of one step.
    """

    def __init__(self, database: Database, say: Callable[[str], None], patience: float = PATIENCE) -> None:
        self.database = database
        self.say = say
        self._patience = patience

    async def run(self, title: str, work: Work[T]) -> T:
        """The answer of `work`, once its transaction has committed. A try that gave way has changed nothing.

        Raises:
            DatabaseUnavailable: the patience is over; the message says who was in the way.
            QueryRefused: Postgres refuses.
        """
        until = trio.current_time() + self._patience
        logged, outcome = "", StepResult[T]()
        for pause in itertools.chain(PAUSES, itertools.repeat(LONGEST_PAUSE)):
            outcome = await self._attempt(work)
            if outcome.value is not None:
                return outcome.value[0]
            if trio.current_time() + pause > until:
                break
            if outcome.reason != logged:
                logged = outcome.reason
                self.say(f"{title} {logged}; trying again")
            await trio.sleep(pause)
        raise DatabaseUnavailable(
            f"{title} {outcome.reason}: not applied within {self._patience:g} s, and it changed nothing; "
            "run `leasehold migrate` again when that has ended"
        )

    async def _attempt(self, work: Work[T]) -> StepResult[T]:
        async with lookouts() as nursery:
            return await self._watched(work, nursery)

    async def _watched(self, work: Work[T], nursery: trio.Nursery) -> StepResult[T]:
        watch: StepWatch | None = None
        with trio.CancelScope() as scope:
            try:
                async with self.database.transaction() as session:
                    await session.execute(PREAMBLE, timeout=LONGEST_STATEMENT)
                    [row] = await session.fetch("select pg_backend_pid() as pid")
                    watch = StepWatch(self.database, row["pid"], scope)
                    nursery.start_soon(watch.run)
                    await session.execute(BRIEFLY)
                    value = await work(session)
                return StepResult(value=(value,))
            except LeaseholdError as error:
                if sqlstate_of(error) not in GIVES_WAY:
                    raise
                return StepResult(reason=(watch and watch.holders) or f"did not get a lock in time ({error})")
        assert watch is not None
        if watch.error is not None:
            raise named("the migration", watch.error) from watch.error
        return StepResult(reason=watch.holders or f"gave way, because {watch.crowd} waited for it")


class Index(msgspec.Struct, frozen=True):
    """An index that a statement makes, and its table."""

    name: str
    table: str

    @classmethod
    def of(cls, statement: str) -> Index | None:
        """None for a statement that makes none."""
        found = MAKES_INDEX.match(statement)
        return None if found is None else cls(f"leasehold.{found[1]}", found[2])


async def run_concurrently(steps: Steps, migration: Migration) -> bool:
    """Run each statement on its own, and write down that it is done; False where somebody else had done it.

    Whoever is killed leaves an index half made, which is invalid: the next run drops it and makes it anew. Other runs of
    `leasehold migrate` wait meanwhile.
    """
    async with steps.database.transaction() as guard:
        await guard.execute(PREAMBLE, timeout=LONGEST_STATEMENT)
        if migration.version in (await Applied.read(guard)).migrations:
            return False
        await _build(steps, guard, migration.title, migration.statements)
        await guard.execute(migration.record)
    return True


async def build_alone(steps: Steps, title: str, statements: Sequence[str]) -> None:
    """Run statements as those of a concurrent migration, without one."""
    async with steps.database.transaction() as guard:
        await guard.execute(PREAMBLE, timeout=LONGEST_STATEMENT)
        await _build(steps, guard, title, statements)


async def _build(steps: Steps, guard: Transaction, title: str, statements: Sequence[str]) -> None:
    # A script closes what the query before left open: its snapshot, which the index would wait for until the end of time.
    await guard.execute("set local idle_in_transaction_session_timeout = 0")
    async with steps.database.reserve("concurrently") as connection:
        await connection.execute("set lock_timeout = 0; set statement_timeout = 0; set search_path = pg_catalog")
        for statement in statements:
            try:
                await _run(steps, connection, title, statement)
            except LeaseholdError as error:
                raise named(title, error) from error


async def _run(steps: Steps, connection: ReservedConnection, title: str, statement: str) -> None:
    [row] = await connection.fetch("select pg_backend_pid() as pid")
    async with lookouts() as nursery:
        nursery.start_soon(_log_holders, steps, row["pid"], title)
        index = Index.of(statement)
        if index is None or not await _is_there(connection, index):
            await connection.execute(statement, timeout=LONGEST_BUILD)


async def _is_there(connection: ReservedConnection, index: Index) -> bool:
    """Whether the index is whole. What is left of one that was not finished is dropped."""
    # Whoever is still making it has this lock: a run that was killed a moment ago may have left its session behind.
    lock = f"begin; lock table {index.table} in share update exclusive mode; commit"
    await connection.execute(lock, timeout=LONGEST_BUILD)
    rows = await connection.fetch(
        "select indisvalid as valid from pg_index where indexrelid = to_regclass($1)", index.name
    )
    if rows and not rows[0]["valid"]:
        await connection.execute(f"drop index concurrently {index.name}", timeout=LONGEST_BUILD)
    return bool(rows) and bool(rows[0]["valid"])


async def _log_holders(steps: Steps, pid: int, title: str) -> None:
    """Say from time to time whom a statement waits for. It holds nobody up meanwhile, so it may wait."""
    logged: list[str] = []
    while True:
        await trio.sleep(LOG_SECONDS)
        rows = await steps.database.fetch(WAITS, pid, LONGEST_BUILD)
        holders = [row["who"] for row in rows if row["holds"]]
        if holders and holders != logged:
            logged = holders
            steps.say(f"{title} waits until {' and '.join(holders)} has ended; nobody waits for it")
