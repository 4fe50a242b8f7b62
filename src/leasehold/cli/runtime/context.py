"""What a command is given: settings, a database when it asks for one, and a way to talk."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from leasehold.cli.runtime.interruption import Interruption
from leasehold.cli.runtime.options import CommonOptions
from leasehold.cli.runtime.terminal import Terminal
from leasehold.settings import ExplainedSetting, Settings, explain, load_settings, show_value

if TYPE_CHECKING:
    from leasehold.cli.runtime.services import Services
    from leasehold.client import Client
    from leasehold.database import Database
    from leasehold.database.embedded import EmbeddedPostgres


class _Place(NamedTuple):
    dsn: str
    description: str
    server: EmbeddedPostgres | None = None


class CommandContext:
    """One run of one command. `stack` outlives the event loop: embedded Postgres is stopped when it closes."""

    def __init__(
        self,
        terminal: Terminal,
        common: CommonOptions,
        services: Services,
        stack: ExitStack,
        interruption: Interruption,
        *,
        is_talkative: bool = False,
    ) -> None:
        self.terminal = terminal
        self.common = common
        self.services = services
        self.interruption = interruption
        self._stack = stack
        self._is_talkative = is_talkative or common.verbose
        self._place: _Place | None = None
        self.psql_program = "psql"

    @cached_property
    def settings(self) -> Settings:
        """The effective settings. Raises SettingsError."""
        return self.settings_with({})

    def settings_with(self, flags: dict[str, object]) -> Settings:
        """The settings with a command's own flags on top. Raises SettingsError."""
        return load_settings({**self.common.flags(), **flags}, self.terminal.environ, self.file)

    def explained_settings(self) -> list[ExplainedSetting]:
        """Every setting with its origin. Raises SettingsError."""
        return explain(self.common.flags(), self.terminal.environ, self.file)

    @property
    def file(self) -> Path | None:
        """The settings file that a flag names."""
        return Path(self.common.config) if self.common.config else None

    def say(self, text: str) -> None:
        """One line of talk, on standard error."""
        self.terminal.say(text)

    def dsn(self, *, create: bool = False) -> str:
        """The configured database, or embedded Postgres, started here; with `create` it is made if there is none.

        It is printed in one line with --verbose, by long-running commands, and if something was made. Raises SettingsError
        without a database.
        """
        if self._place is None:
            self._place = self._find_place(create=create)
        return self._place.dsn

    def direct_dsn(self, *, create: bool = False) -> str:
        """The database without a pooler in between, where that is configured; else the same."""
        dsn = self.dsn(create=create)
        return self.settings.direct_database_url or dsn

    @property
    def place(self) -> str:
        """One line on the database that `dsn` has found."""
        return self._place.description if self._place else "no database"

    @property
    def data_folder(self) -> Path | None:
        """Where embedded Postgres, if `dsn` has started it, keeps its data."""
        return self.server.data_folder if self.server else None

    @property
    def server(self) -> EmbeddedPostgres | None:
        """Embedded Postgres, if `dsn` has started it."""
        return self._place.server if self._place else None

    def _find_place(self, *, create: bool) -> _Place:
        url = self.settings.database_url
        if url is not None:
            place = _Place(url, f"the database is {show_value('database_url', url)}")
            is_worth_a_line = self.common.verbose
        else:
            self._stack.enter_context(self.interruption.owing())
            opening = self.services.embedded_postgres(
                self.named_folder, create=create, hurries=lambda: self.interruption.is_interrupted
            )
            server = self._stack.enter_context(opening)
            self.psql_program = str(server.programs / "psql")
            place = _Place(server.dsn, server.describe(), server)
            is_worth_a_line = server.is_worth_a_line or self._is_talkative
        if is_worth_a_line:
            self.say(place.description)
        return place

    @property
    def named_folder(self) -> Path | None:
        """The data folder that a setting names."""
        folder = self.settings.data_folder
        return Path(folder) if folder else None

    def resolved(self, settings: Settings) -> Settings:
        """`settings` naming the database that this command uses."""
        return msgspec.structs.replace(settings, database_url=self.dsn())

    @asynccontextmanager
    async def database(self, *, must_fit: bool = True) -> AsyncGenerator[Database]:
        """The database. With `must_fit` a schema that this code does not know is refused (SchemaMismatch).

        A command that waits for a lock says so, and who has it.
        """
        from leasehold.database.waits import lookouts, report_wait  # noqa: PLC0415  with the database

        settings = self.settings
        opening = self.services.open_database(self.dsn(), settings.direct_database_url, settings.statement_seconds)
        async with opening as database, lookouts() as nursery:
            nursery.start_soon(report_wait, database, self.say, self.services.patience)
            if must_fit:
                await self.services.check_schema_of(database)
            yield database

    async def check_schema(self, *, notice_too: bool = False) -> None:
        """Raises SchemaMismatch, saying what to do, if this code cannot work on the schema in the database.

        With `notice_too` it says what this code has to do without on the schema of another release.
        """
        notice = await self.services.check_schema(self.dsn())
        if notice and notice_too:
            self.say(notice)

    async def migrate(self, *, create: bool = True) -> bool:
        """Bring the schema up to this code, and print a line if that changed something.

        With `create` a database is made if there is none. Returns whether there was no schema before.
        """
        report = await self.services.migrate(self.direct_dsn(create=create), self.say)
        if not report.is_empty:
            self.say(f"schema migrated to version {report.to_version}")
        return report.from_version == 0

    @asynccontextmanager
    async def client(self, app: str | None = None) -> AsyncGenerator[Client]:
        """A client on the database, once its schema fits; it knows the kinds of the app at `app`. Raises as `load_app`."""
        from leasehold.cli.runtime.loading import load_app  # noqa: PLC0415  where there is one
        from leasehold.payloads.options import payload_options  # noqa: PLC0415  with the client

        loaded = load_app(app) if app else None
        async with self.database() as database:
            yield self.services.client(database, loaded, payload_options(self.settings, most_loaded=0))
