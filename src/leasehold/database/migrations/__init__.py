"""Brings the schema in a database up to the files in `sql/`, while others use it; one runner at a time.

`run.py` is how a run goes; `steps.py` says how a step never holds others up, `functions.py` how functions are replaced.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import msgspec

from leasehold import database as databases
from leasehold.database.migrations.catalogue import REFUSE_ENCODING, Catalogue, Migration, Repeatable
from leasehold.database.migrations.granting import apply_grants as apply_grants_in
from leasehold.database.migrations.granting import find_prefix as find_prefix_in
from leasehold.database.migrations.indexes import find_gone
from leasehold.database.migrations.run import MigrationReport, Run
from leasehold.database.migrations.state import Applied, SchemaState, read_other_tables
from leasehold.database.migrations.steps import PATIENCE, Steps
from leasehold.database.signatures import released_schema
from leasehold.errors import BadInput

if TYPE_CHECKING:
    from leasehold.database import Database, OpenTransaction, Transaction

log = logging.getLogger(__name__)

T = TypeVar("T")

__all__ = [
    "PATIENCE",
    "Catalogue",
    "Migration",
    "MigrationReport",
    "Repeatable",
    "SchemaState",
    "apply_grants",
    "count_other_tables",
    "emit",
    "expected_version",
    "find_prefix",
    "migrate",
    "oldest_version",
    "read_schema_state",
    "schema_state",
]


async def migrate(
    dsn: str,
    *,
    to: int | None = None,
    dry_run: bool = False,
    patience: float = PATIENCE,
    say: Callable[[str], None] = log.warning,
    catalogue: Catalogue | None = None,
) -> MigrationReport:
    """Apply what is pending, while others go on working. Doing it again changes nothing, and goes on where a run ended.

    Nobody waits for it longer than a second: a step that does not get its locks, or is in somebody's way, is undone and
    tried again. Each migration is a transaction of its own; then come all views and functions in another one. In a
    database without our schema all of it is one transaction.

    Args:
        dsn: the database; its user must own the schema, or be allowed to make it.
        to: the number of the last migration to apply. Views and functions belong to the newest one; before it they stay
            as they are.
        dry_run: only look; takes no locks.
        patience: seconds for all tries of one step.
        say: gets a line when a step has to try again, with who is in the way.
        catalogue: other files than those of this installation.

    Raises:
        BadInput: there is no migration `to`, or the database is past it.
        SchemaMismatch: the database is newer than this code, or an applied migration was edited.
        QueryRefused: Postgres refused one of the files, which is named.
        DatabaseUnavailable: no connection, or a step was in the way until the patience was over.
    """
    wanted = catalogue or Catalogue.read()
    target = wanted.version if to is None else to
    if not 0 <= target <= wanted.version:
        raise BadInput(f"there is no migration {target}; the newest is {wanted.version}")

    async def work(database: Database) -> MigrationReport:
        async with database.transaction() as session:
            run = Run(wanted, await Applied.read(session), target)
        run.check()
        if dry_run:
            plan = run.plan()
            gone = await find_gone(database) if run.is_of_here and not plan.migrations else []
            return msgspec.structs.replace(plan, indexes=tuple(name.rpartition(".")[2] for name in gone))
        if not run.is_first:
            return await run.apply_in_steps(Steps(database, say, patience))
        async with database.transaction() as session:
            return await run.apply_at_once(session)

    return await _in_database(dsn, "leasehold migrate", work)


def emit() -> str:
    """The whole schema as one SQL script, for a database without it. Needs no connection; always the same text."""
    return Catalogue.read().script()


def oldest_version() -> int:
    """The number of the newest migration of the last release: this code still works on its schema."""
    return min(released_schema(), expected_version())


def expected_version() -> int:
    """The number of the newest migration that this code has."""
    return Catalogue.read().version


async def schema_state(dsn: str, *, catalogue: Catalogue | None = None) -> SchemaState:
    """Compare the schema in a database with this code; changes nothing. Raises DatabaseUnavailable."""
    return await _in_transaction(dsn, "leasehold doctor", partial(read_schema_state, catalogue=catalogue))


async def read_schema_state(session: OpenTransaction, *, catalogue: Catalogue | None = None) -> SchemaState:
    """As `schema_state`, in a transaction of the caller's. Raises WrongAddress where `migrate` would refuse the encoding."""
    state = (await Applied.read(session)).compare(catalogue or Catalogue.read())
    if state.status == "missing":
        await session.execute(REFUSE_ENCODING)
        return state
    lacking = await session.fit.lacking(session.fetch)
    names = (f"{function} without {name}" for function in sorted(lacking) for name in sorted(lacking[function]))
    return msgspec.structs.replace(state, lacking=tuple(names))


async def count_other_tables(dsn: str) -> int:
    """How many tables a database has, apart from ours and from those of Postgres and its extensions; changes nothing. Raises
    DatabaseUnavailable."""
    return await _in_transaction(dsn, "leasehold migrate", read_other_tables)


async def apply_grants(dsn: str, prefix: str) -> None:
    """Make the Postgres roles whose names begin with `prefix`, and give them their rights; doing it again changes nothing.

    Raises BadInput for a prefix that cannot begin a name, QueryRefused where this user may not make roles or does not own
    the schema, DatabaseUnavailable.
    """
    await _in_transaction(dsn, "leasehold grants", lambda session: apply_grants_in(session, prefix))


async def find_prefix(dsn: str) -> str | None:
    """What the names of the roles begin with that are in force, None where none are. Raises DatabaseUnavailable."""
    return await _in_transaction(dsn, "leasehold grants", find_prefix_in)


async def _in_transaction(dsn: str, name: str, work: Callable[[Transaction], Awaitable[T]]) -> T:
    async def do(database: Database) -> T:
        async with database.transaction() as session:
            return await work(session)

    return await _in_database(dsn, name, do)


async def _in_database(dsn: str, name: str, work: Callable[[Database], Awaitable[T]]) -> T:
    async with databases.open_database(dsn, pool_size=2, application_name=name) as database:
        return await work(database)
