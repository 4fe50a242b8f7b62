"""What commands do to the world: databases, processes. Imports wait until they are needed: `--help` stays quick.

Tests pass a subclass.
"""
# ruff: noqa: PLC0415

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from leasehold.errors import SchemaMismatch, SchemaOutdated

if TYPE_CHECKING:
    from rich.console import Console

    from leasehold.app import App
    from leasehold.client import Client
    from leasehold.database import Database
    from leasehold.database.embedded import EmbeddedPostgres
    from leasehold.database.migrations import MigrationReport, SchemaState
    from leasehold.demo.summary import DemoReport
    from leasehold.payloads.options import PayloadOptions
    from leasehold.settings import Settings

APPLICATION_NAME = "leasehold cli"


class Services:
    """What commands need, by name.

    Attributes:
        patience: seconds until a command says what it waits for.
    """

    patience = 5.0

    def embedded_postgres(
        self, folder: Path | None, *, create: bool, hurries: Callable[[], bool]
    ) -> AbstractContextManager[EmbeddedPostgres]:
        """Embedded Postgres with its data in `folder`. Without `create` the data must exist."""
        from leasehold.database.embedded import embedded_postgres

        return embedded_postgres(folder, create=create, hurries=hurries)

    def open_database(
        self, dsn: str, direct_dsn: str | None = None, timeout: float | None = None
    ) -> AbstractAsyncContextManager[Database]:
        """A pool of one connection: commands do one thing at a time. `direct_dsn` is where to listen; `timeout`: seconds."""
        from leasehold.database import open_database

        return open_database(
            dsn, pool_size=1, application_name=APPLICATION_NAME, timeout=timeout, direct_dsn=direct_dsn
        )

    def client(self, database: Database, app: App | None = None, payloads: PayloadOptions | None = None) -> Client:
        """A client on an open database, which checks jobs against the kinds of `app`."""
        from leasehold.client import Client

        return Client(database, app=app, payloads=payloads)

    async def check_schema(self, dsn: str) -> str | None:
        """What this code has to do without on the schema in the database; None if nothing.

        Raises SchemaMismatch if it cannot work on it, and SchemaOutdated where `leasehold migrate` helps.
        """
        from leasehold.database.migrations import schema_state

        return _judged(await schema_state(dsn))

    async def check_schema_of(self, database: Database) -> None:
        """As `check_schema`, on a database that is open: a command needs no second connection."""
        from leasehold.database.migrations import read_schema_state

        async with database.transaction() as session:
            _judged(await read_schema_state(session))

    async def migrate(
        self,
        dsn: str,
        say: Callable[[str], None],
        *,
        to: int | None = None,
        dry_run: bool = False,
        patience: float | None = None,
    ) -> MigrationReport:
        """Bring the schema up to this code; `say` gets a line when somebody is in the way."""
        from leasehold.database.migrations import PATIENCE, migrate

        return await migrate(dsn, to=to, dry_run=dry_run, patience=PATIENCE if patience is None else patience, say=say)

    async def apply_grants(self, dsn: str, prefix: str) -> None:
        """Make the Postgres roles and give them their rights."""
        from leasehold.database.migrations import apply_grants

        await apply_grants(dsn, prefix)

    async def find_prefix(self, dsn: str) -> str | None:
        """What the names of the Postgres roles begin with that are in force."""
        from leasehold.database.migrations import find_prefix

        return await find_prefix(dsn)

    def run_foreign(self, command: Sequence[str], environ: Mapping[str, str]) -> int:
        """Run somebody else's program on our terminal. Returns its exit code."""
        from leasehold.cli.runtime.loading import run_foreign

        return run_foreign(command, environ)

    async def run_actors(
        self,
        names: Sequence[str],
        settings: Settings,
        app: App | None,
        begin: Callable[[], Awaitable[object]] | None = None,
        *,
        stays: bool = False,
    ) -> int:
        """Run actors until they are told to stop. `begin` comes first, again and again until the database is there.

        `stays`: where a command has ended the worker, the process waits for a signal.
        """
        from leasehold.actors.run import run_actors

        return await run_actors(names, settings, app=app, begin=begin, stays=stays)

    def run_gateway(
        self, settings: Settings, app: App | None = None, must_stop: Callable[[], bool] = bool, *, waits: bool = True
    ) -> int:
        """Run the gateway until it is told to stop. It checks the schema itself, under asyncio."""
        import asyncio

        from leasehold.gateway.serving.serve import serve

        return asyncio.run(serve(settings, app=app, must_stop=must_stop, waits=waits))

    async def run_demo(
        self, settings: Settings, console: Console, keep: Path | None, hurries: Callable[[], bool]
    ) -> DemoReport:
        """Run the demo, with its progress on `console`. The report of the census goes to `keep`."""
        from leasehold.demo.show import run_demo
        from leasehold.demo.stage import Stage

        return await run_demo(settings, Stage(console), keep, hurries)


def schema_notice(state: SchemaState) -> str | None:
    """What is not as this code would have it although it can work so, and what to do; None if there is no such thing."""
    without = f" and does without what is new ({', '.join(state.lacking)})" if state.lacking else ""
    match state.status:
        case "newer":
            return (
                f"the schema is at version {state.version} and this code knows {state.expected}: "
                "it works as before; install the newer leasehold soon"
            )
        case "older":
            have = f"the schema is at version {state.version}, of the release before; this code would have {state.expected}"
            return f"{have}: it works{without} until `leasehold migrate`"
        case _ if state.lacking:
            return f"the functions are of the release before: this code works{without} until `leasehold migrate`"
        case _:
            return None


def _judged(state: SchemaState) -> str | None:
    from leasehold.database.migrations.state import schema_problem

    if problem := schema_problem(state):
        raise (SchemaMismatch if state.status == "newer" else SchemaOutdated)(problem)
    return schema_notice(state)
