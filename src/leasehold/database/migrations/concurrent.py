"""Migrations outside a transaction: indexes that are made while everybody goes on working."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
import trio

from leasehold.database.migrations.applied import Applied
from leasehold.database.migrations.catalogue import PREAMBLE, Migration
from leasehold.database.migrations.statements import LONGEST_STATEMENT, named
from leasehold.database.migrations.steps import WAITS, Steps
from leasehold.errors import LeaseholdError

if TYPE_CHECKING:
    from leasehold.database import ReservedConnection, Transaction

LONGEST_BUILD = 7 * 86400.0  # seconds
TELL_SECONDS = 5.0
MAKES_INDEX = re.compile(
    r"create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(?:leasehold\.)?(\w+)\s+on\s+(leasehold\.\w+)",
    re.IGNORECASE,
)


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
    async with steps.database.transaction() as guard, steps.database.reserve("concurrently") as connection:
        await guard.execute(PREAMBLE, timeout=LONGEST_STATEMENT)
        if migration.version in (await Applied.read(guard)).migrations:
            return False
        # A script closes what the query before left open: its snapshot, which the index would wait for until the end of time.
        await guard.execute("set local idle_in_transaction_session_timeout = 0")
        await connection.execute("set lock_timeout = 0; set statement_timeout = 0; set search_path = pg_catalog")
        for statement in migration.statements:
            try:
                await _run(steps, connection, migration.title, statement)
            except LeaseholdError as error:
                raise named(migration.title, error) from error
        await record(guard, migration)
    return True


async def record(session: Transaction, migration: Migration) -> None:
    """Write down that a migration is applied."""
    await session.fetch(
        "insert into leasehold.schema_migrations (version, name, checksum, breaking) values ($1, $2, $3, $4)",
        migration.version,
        migration.name,
        migration.checksum,
        migration.breaking,
    )


async def _run(steps: Steps, connection: ReservedConnection, title: str, statement: str) -> None:
    [row] = await connection.fetch("select pg_backend_pid() as pid")
    raised: BaseException | None = None
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_tell, steps, row["pid"], title)
            try:
                index = Index.of(statement)
                if index is None or not await _is_there(connection, index):
                    await connection.execute(statement, timeout=LONGEST_BUILD)
            except BaseException as error:
                raised = error
                raise
            nursery.cancel_scope.cancel()
    except BaseExceptionGroup:
        if raised is None:
            raise
    if raised is not None:
        raise raised


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


async def _tell(steps: Steps, pid: int, title: str) -> None:
    """Say from time to time whom a statement waits for. It holds nobody up meanwhile, so it may wait."""
    told: list[str] = []
    while True:
        await trio.sleep(TELL_SECONDS)
        rows = await steps.database.fetch(WAITS, pid, LONGEST_BUILD)
        holders = [row["who"] for row in rows if row["holds"]]
        if holders and holders != told:
            told = holders
            steps.say(f"{title} waits until {' and '.join(holders)} has ended; nobody waits for it")
