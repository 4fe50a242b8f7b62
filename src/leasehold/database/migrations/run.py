"""One run of the migrations: what it is going to do, and doing it, at once or step by step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec
import trio

from leasehold.database.migrations.catalogue import PREAMBLE, Catalogue, Key, Migration, Repeatable
from leasehold.database.migrations.functions import Functions, drop_what_was_set_aside, find_surplus
from leasehold.database.migrations.granting import keep_rights
from leasehold.database.migrations.indexes import make_again
from leasehold.database.migrations.state import Applied
from leasehold.database.migrations.steps import LONGEST_STATEMENT, Steps, attempt, run_concurrently, run_named
from leasehold.errors import BadInput, SchemaMismatch

if TYPE_CHECKING:
    from leasehold.database import Database, Transaction

LOOK_SECONDS = 0.05
LONGEST_LOOK = 3.0  # seconds
# A transaction that has begun since knows the new functions; one of before may hold on to the former ones.
OPEN = "select array_agg(virtualxid) as open from pg_locks where locktype = 'virtualxid' and pid <> pg_backend_pid()"
STILL_OPEN = "select exists (select from pg_locks where locktype = 'virtualxid' and virtualxid = any ($1)) as some"


class MigrationReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a run changed, or with `dry_run` would change."""

    from_version: int
    to_version: int
    migrations: tuple[str, ...] = ()
    views: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()
    dry_run: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether everything was there already."""
        return not (self.migrations or self.views or self.functions or self.removed or self.indexes)


class Run:
    """Brings a database from what was applied to what is wanted."""

    def __init__(self, wanted: Catalogue, applied: Applied, target: int) -> None:
        self._wanted = wanted
        self._applied = applied
        self._target = target

    @property
    def is_first(self) -> bool:
        """Whether the database has none of it yet, so that nobody uses it."""
        return self._applied.version == 0

    @property
    def is_of_here(self) -> bool:
        """Whether the schema will be as `sql/schema.txt` describes it."""
        return self._is_whole and self._wanted is Catalogue.read()

    def check(self) -> None:
        """Refuse what no run can put right."""
        version = self._applied.version
        if version > self._wanted.version:
            raise SchemaMismatch(
                f"the database has migration {version} and this leasehold knows only {self._wanted.version}: "
                "install the newer leasehold, or name another database"
            )
        if self._target < version:
            raise BadInput(f"the database has migration {version} already; there is no way back to {self._target}")
        for migration in self._wanted.migrations:
            if self._applied.migrations.get(migration.version, migration.checksum) != migration.checksum:
                raise SchemaMismatch(
                    f"migration {migration.title} was applied with another text than it has now: "
                    "put the old text back and write a new migration instead"
                )

    def plan(self) -> MigrationReport:
        """What `apply` is going to do."""
        pending = self._pending()
        if not self._is_whole:
            return self._report(pending, dry_run=True)
        changed = filter(self._applied.lacks, self._wanted.repeatables)
        return self._report(pending, changed, find_surplus(self._wanted, self._applied), dry_run=True)

    async def apply_at_once(self, session: Transaction) -> MigrationReport:
        """All of it in one transaction, in a database that nobody uses yet: all of it or nothing."""
        # It waits for other runners, and makes sure that there is a place to write down what was applied.
        await session.execute(PREAMBLE, timeout=LONGEST_STATEMENT)
        run = Run(self._wanted, await Applied.read(session), self._target)
        run.check()
        pending = run._pending()
        if run._is_all_new and await attempt(session, self._wanted.body()) is None:
            await keep_rights(session, is_changed=True)
            return run._report(pending, self._wanted.repeatables)
        for migration in pending:  # one by one, if only to name what Postgres refuses
            await run_named(session, migration.title, migration.script)
            await session.execute(migration.record)
        if not self._is_whole:
            return run._report(pending)
        made, gone = await run._replace(session, pending)
        await run._close(session)
        return run._report(pending, made, gone)

    async def apply_in_steps(self, steps: Steps) -> MigrationReport:
        """Each migration in a transaction of its own, then all views and functions in one, while others go on working."""
        done = [each for each in self._pending() if await self._migrate(steps, each)]
        if not self._is_whole:
            return self._report(done)

        async def replace(session: Transaction) -> tuple[list[Repeatable], list[Key]]:
            run = Run(self._wanted, await Applied.read(session), self._target)
            return await run._replace(session, done)

        made, gone = await steps.run("views and functions", replace)
        if made or gone:
            await _let_go(steps.database)
        await steps.run("former functions", drop_what_was_set_aside)
        await steps.run("partitions", self._close)
        report = self._report(done, made, gone)
        return msgspec.structs.replace(report, indexes=await make_again(steps)) if self.is_of_here else report

    async def _migrate(self, steps: Steps, migration: Migration) -> bool:
        """Apply one migration; False where another run has done it."""
        if migration.is_concurrent:
            return await run_concurrently(steps, migration)

        async def apply(session: Transaction) -> bool:
            if migration.version in (await Applied.read(session)).migrations:
                return False
            await run_named(session, migration.title, migration.text)
            await session.execute(migration.record)
            return True

        return await steps.run(migration.title, apply)

    async def _replace(self, session: Transaction, pending: list[Migration]) -> tuple[list[Repeatable], list[Key]]:
        gone = find_surplus(self._wanted, self._applied)
        made = await Functions(session, self._wanted, self._applied).apply()
        await keep_rights(session, is_changed=bool(pending or made or gone))
        return made, gone

    async def _close(self, session: Transaction) -> None:
        for call in self._wanted.closing_calls:
            await run_named(session, call, f"select {call}")

    @property
    def _is_all_new(self) -> bool:
        """Whether all is to be made, and nothing of it is there."""
        return self.is_first and self._is_whole and not self._applied.existing

    @property
    def _is_whole(self) -> bool:
        """Views and functions belong to the newest migration."""
        return self._target == self._wanted.version

    def _pending(self) -> list[Migration]:
        wanted = self._wanted.migrations
        return [
            each for each in wanted if each.version <= self._target and each.version not in self._applied.migrations
        ]

    def _report(
        self,
        migrations: Iterable[Migration],
        changed: Iterable[Repeatable] = (),
        removed: Iterable[Key] = (),
        *,
        dry_run: bool = False,
    ) -> MigrationReport:
        changed = list(changed)
        return MigrationReport(
            from_version=self._applied.version,
            to_version=self._target,
            migrations=tuple(migration.title for migration in migrations),
            views=tuple(item.name for item in changed if item.kind == "view"),
            functions=tuple(item.name for item in changed if item.kind != "view"),
            removed=tuple(f"{kind} {name}" for kind, name in removed),
            dry_run=dry_run,
        )


async def _let_go(database: Database) -> None:
    """Wait a little for the transactions that are open now, which may be about to call a former function."""
    [row] = await database.fetch(OPEN)
    with trio.move_on_after(LONGEST_LOOK):
        while row["open"]:
            [still] = await database.fetch(STILL_OPEN, row["open"])
            if not still["some"]:
                return
            await trio.sleep(LOOK_SECONDS)
