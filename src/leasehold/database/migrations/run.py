"""One run of the migrations, inside one transaction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from leasehold.database.migrations.applied import Applied, read_existing
from leasehold.database.migrations.catalogue import PREAMBLE, Catalogue, Key, Migration, Repeatable
from leasehold.database.migrations.granting import keep_rights
from leasehold.errors import BadInput, DatabaseUnavailable, LeaseholdError, QueryRefused, SchemaMismatch

if TYPE_CHECKING:
    from leasehold.database import Transaction

PATIENCE = 900.0  # seconds for one statement; another runner may be at it
STILL_NEEDED = "2BP01"
CANNOT_REPLACE = {"42P13", "42P16"}  # another return type or parameter name; other columns of a view


class MigrationReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a run changed, or with `dry_run` would change."""

    from_version: int
    to_version: int
    migrations: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    dry_run: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether everything was there already."""
        return not (self.migrations or self.views or self.functions or self.removed)


async def prepare(session: Transaction) -> None:
    """Wait for other runners, and make sure that there is a place to write down what was applied."""
    await session.execute(PREAMBLE, timeout=PATIENCE)


class Run:
    """Brings a database from what was applied to what is wanted. `prepare` the session before `apply`."""

    def __init__(self, session: Transaction, wanted: Catalogue, applied: Applied) -> None:
        self._session = session
        self._wanted = wanted
        self._applied = applied

    def check(self, target: int) -> None:
        """Refuse what no run can put right."""
        version = self._applied.version
        if version > self._wanted.version:
            raise SchemaMismatch(
                f"the database has migration {version} and this leasehold knows only {self._wanted.version}: "
                "install the newer leasehold, or name another database"
            )
        if target < version:
            raise BadInput(f"the database has migration {version} already; there is no way back to {target}")
        for migration in self._wanted.migrations:
            if self._applied.migrations.get(migration.version, migration.checksum) != migration.checksum:
                raise SchemaMismatch(
                    f"migration {migration.title} was applied with another text than it has now: "
                    "put the old text back and write a new migration instead"
                )

    def plan(self, target: int) -> MigrationReport:
        """What `apply` is going to do."""
        if target < self._wanted.version:
            return self._report(target, dry_run=True)
        changed = filter(self._applied.lacks, self._wanted.repeatables)
        return self._report(target, changed, self._surplus(), dry_run=True)

    async def apply(self, target: int) -> MigrationReport:
        """Do it."""
        for migration in self._pending(target):
            await self._execute(migration.title, migration.text)
            await self._write_down(
                "insert into leasehold.schema_migrations (version, name, checksum, breaking) values ($1, $2, $3, $4)",
                migration.version,
                migration.name,
                migration.checksum,
                migration.breaking,
            )
        if target < self._wanted.version:
            return self._report(target)
        # What changed may need what is surplus dropped first, or may be what still needs it: hence before and after.
        needed = [key for key in self._surplus() if not await self._drop_unless_needed(key)]
        changed = await self._apply_repeatables()
        for kind, name in needed:
            await self._drop(kind, name)
        for kind, name in self._surplus():
            await self._write_down("delete from leasehold.schema_repeatables where (kind, name) = ($1, $2)", kind, name)
        for call in self._wanted.closing_calls:
            await self._execute(call, f"select {call}")
        report = self._report(target, changed, self._surplus())
        if not report.is_empty:
            await keep_rights(self._session, self._wanted)
        return report

    async def _apply_repeatables(self) -> list[Repeatable]:
        made: list[Repeatable] = []
        present = msgspec.structs.replace(self._applied, existing=await read_existing(self._session))
        for item in self._wanted.repeatables:
            if present.lacks(item):
                if not await self._replace(item):
                    present = msgspec.structs.replace(present, existing=await read_existing(self._session))
                made.append(item)
                await self._write_down(
                    "insert into leasehold.schema_repeatables (kind, name, checksum) values ($1, $2, $3) "
                    "on conflict (kind, name) do update set checksum = excluded.checksum, applied_at = default",
                    item.kind,
                    item.name,
                    item.checksum,
                )
        return made

    async def _replace(self, item: Repeatable) -> bool:
        """Make or replace it; False if others had to be dropped for it, which are now to be made again."""
        before = await self._overloads(item.name)
        error = await self._attempt(item.text)
        if error is None:
            # What the statement left alone is the function with its former parameters.
            for signature, _ in await self._overloads(item.name) & before:
                await self._execute(item.title, f"drop function {signature}")
            return True
        if _sqlstate(error) not in CANNOT_REPLACE:
            raise _named(item.title, error) from error
        for other in [*self._wanted.dependents(item.name), item]:
            await self._drop(other.kind, other.name)
        await self._execute(item.title, item.text)
        return False

    async def _drop_unless_needed(self, key: Key) -> bool:
        kind, name = key
        statements = [f"drop function {signature}" for signature, _ in await self._overloads(name)]
        if kind == "view":
            statements.append(f"drop view if exists leasehold.{name}")
        error = await self._attempt("; ".join(statements)) if statements else None
        if error is not None and _sqlstate(error) != STILL_NEEDED:
            raise _named(f"dropping {kind} {name}", error) from error
        return error is None

    async def _drop(self, kind: str, name: str) -> None:
        if kind == "view":
            await self._execute(f"dropping view {name}", f"drop view if exists leasehold.{name}")
        for signature, _ in await self._overloads(name):
            await self._execute(f"dropping function {name}", f"drop function {signature}")

    async def _overloads(self, name: str) -> set[tuple[str, str]]:
        """Signature and row version of each function of this name; making one again gives it a new row version."""
        rows = await self._session.fetch(
            "select oid::regprocedure::text as signature, ctid::text as version from pg_catalog.pg_proc "
            "where pronamespace = 'leasehold'::regnamespace and proname = $1",
            name,
        )
        return {(row["signature"], row["version"]) for row in rows}

    async def _attempt(self, text: str) -> LeaseholdError | None:
        """Run it, and if Postgres refuses, leave the transaction as it was and return the refusal."""
        await self._session.execute("savepoint attempt")
        try:
            await self._session.execute(text, timeout=PATIENCE)
        except DatabaseUnavailable:
            raise
        except LeaseholdError as error:
            await self._session.execute("rollback to savepoint attempt")
            return error
        await self._session.execute("release savepoint attempt")
        return None

    async def _execute(self, title: str, text: str) -> None:
        try:
            await self._session.execute(text, timeout=PATIENCE)
        except LeaseholdError as error:
            raise _named(title, error) from error

    async def _write_down(self, statement: str, *values: object) -> None:
        await self._session.fetch(statement, *values)

    def _pending(self, target: int) -> list[Migration]:
        return [m for m in self._wanted.migrations if m.version <= target and m.version not in self._applied.migrations]

    def _surplus(self) -> list[Key]:
        """Views and functions that we made once and that have no file any more."""
        return sorted(self._applied.repeatables.keys() - {item.key for item in self._wanted.repeatables})

    def _report(
        self, target: int, changed: Iterable[Repeatable] = (), removed: Iterable[Key] = (), *, dry_run: bool = False
    ) -> MigrationReport:
        changed = list(changed)
        return MigrationReport(
            from_version=self._applied.version,
            to_version=target,
            migrations=tuple(migration.title for migration in self._pending(target)),
            views=tuple(item.name for item in changed if item.kind == "view"),
            functions=tuple(item.name for item in changed if item.kind == "function"),
            removed=tuple(f"{kind} {name}" for kind, name in removed),
            dry_run=dry_run,
        )


def _named(title: str, error: LeaseholdError) -> LeaseholdError:
    text = f"{title} could not be applied, nothing was changed: {error}"
    if isinstance(error, DatabaseUnavailable):
        return DatabaseUnavailable(text)
    return QueryRefused(text, sqlstate=_sqlstate(error))


def _sqlstate(error: LeaseholdError) -> str | None:
    """Of Postgres itself, where the error of ours has none or its own."""
    state = getattr(error.__cause__, "sqlstate", None)
    return state if isinstance(state, str) else error.sqlstate
