"""`cli(…)` runs one command in this process, with streams, environment and clock of its own."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import msgspec
import pytest

from leasehold.cli.runtime.services import Services
from leasehold.cli.runtime.terminal import Terminal
from leasehold.cli.shell.launcher import run
from leasehold.observability.logs import uninstall_logging
from tests.conftest import Psql

__all__ = ["Cli", "Psql", "Sql", "Transcript"]

INSTANT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?( UTC|Z)")
# Ages then read "1d ago", however long a test takes.
AHEAD = timedelta(days=1, minutes=1)


class FakeTty(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Transcript:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return msgspec.json.decode(self.out)

    @property
    def steady(self) -> str:
        """The output with instants replaced, so that it can be compared."""
        return INSTANT.sub("<instant>", self.out).rstrip("\n")


Cli = Callable[..., Transcript]
Sql = Callable[[str], str]


def now() -> datetime:
    return datetime.now(UTC) + AHEAD


@pytest.fixture
def run_cli() -> Generator[Cli]:
    """`run_cli("status", environ={…})`; `terminal=True` writes to something that looks like a terminal."""

    def call(
        *tokens: str,
        environ: dict[str, str] | None = None,
        stdin: str = "",
        terminal: bool = False,
        services: Services | None = None,
    ) -> Transcript:
        stream = FakeTty if terminal else io.StringIO
        out, err = stream(), stream()
        environ = {"COLUMNS": "100", "NO_COLOR": "1", **(environ or {})}
        code = run(tokens, Terminal(io.StringIO(stdin), out, err, environ, now), services)
        return Transcript(code, out.getvalue(), err.getvalue())

    yield call
    uninstall_logging()


@pytest.fixture
def cli(run_cli: Cli, database_url: str) -> Cli:
    """`run_cli` with a fresh, migrated database configured."""

    def call(*tokens: str, environ: dict[str, str] | None = None, **rest: Any) -> Transcript:
        return run_cli(*tokens, environ={"LEASEHOLD_DATABASE_URL": database_url, **(environ or {})}, **rest)

    return call


@pytest.fixture
def sql(psql: Psql, database_url: str) -> Sql:
    """`psql` on the database of `cli`. What is only there for a command to find is made with it: it costs a tenth."""
    return partial(psql, database_url)
