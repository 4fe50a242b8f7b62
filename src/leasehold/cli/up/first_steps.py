"""The first `leasehold up` on a machine: whether it may make a database, the first token, and what to try next."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import msgspec
import trio

from leasehold.access.tokens import is_token, make_token
from leasehold.cli.runtime.context import CommandContext
from leasehold.errors import BadInput, SettingsError
from leasehold.observability.logs import redact_dsn

FILE = "gateway.token"


class KeptToken(msgspec.Struct, frozen=True):
    """A token, where it is kept, and whether it was made just now."""

    secret: str
    path: Path
    is_new: bool


def has_token(folder: Path) -> bool:
    """Whether a token is kept in the data folder."""
    return (folder / FILE).exists()


def keep_token(folder: Path) -> KeptToken:
    """The token in the data folder; it is made if there is none. Only its owner may read it. Raises SettingsError."""
    path = folder / FILE
    try:
        # Never there for others to read, not even for a moment.
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return KeptToken(_read(path), path, False)
    with os.fdopen(handle, "w") as file:
        secret = make_token()
        file.write(secret + "\n")
    return KeptToken(secret, path, True)


def _read(path: Path) -> str:
    if path.stat().st_mode & 0o077:
        raise SettingsError(
            f"others may read the token in {path}: chmod 600 {path}, or remove it to have a new one made"
        )
    secret = path.read_text().strip()
    if not is_token(secret):
        raise SettingsError(f"{path} holds no token: remove it to have a new one made")
    return secret


YES = ("y", "yes")


async def agree_to_migrate(context: CommandContext, *, is_agreed: bool) -> None:
    """Name the database, unless it is an embedded one, and ask before its schema changes, unless it is empty.

    `is_agreed`: do not ask. Raises BadInput where the answer is no, or where nobody can be asked.
    """
    if context.settings.database_url is None:
        return
    from leasehold.database.migrations import count_other_tables  # noqa: PLC0415  with the database

    name = redact_dsn(context.dsn()) or "the database of the PG* variables"
    context.say(f"the database is {name}")
    dsn = context.direct_dsn()
    plan = await context.services.migrate(dsn, context.say, dry_run=True)
    if plan.is_empty or is_agreed:
        return
    if plan.from_version:
        would = f"its schema leasehold would be brought from version {plan.from_version} to {plan.to_version}"
    elif others := await count_other_tables(dsn):
        tables = "1 table of another program" if others == 1 else f"{others} tables of other programs"
        would = f"it has {tables}, and would get a schema leasehold"
    else:
        return
    await _ask(context, f"{name}: {would}")


async def _ask(context: CommandContext, what: str) -> None:
    stdin = context.terminal.stdin
    if not stdin.isatty():
        raise BadInput(f"{what}; add --yes if that is meant, or run `leasehold migrate` first")
    context.say(f"{what}. Go on? [y/N]")
    # No thread that waits in sys.stdin: it would keep the interpreter from ending.
    await trio.lowlevel.wait_readable(stdin.fileno())
    answer = os.read(stdin.fileno(), 100).decode(errors="replace")
    if answer.strip().lower() not in YES:
        raise BadInput("nothing was changed; name another database with --database-url or LEASEHOLD_DATABASE_URL")


WIDEST_RULE = 78
JOB = """{"kind": "echo", "args": {"text": "hello"}}"""


class Hints(msgspec.Struct, frozen=True, kw_only=True):
    """What `leasehold up` prints.

    Attributes:
        url: of the gateway.
        dsn: of the database; its password is not shown.
        psql: the program.
        authorization: what to send as an access token, in words that a shell understands; None: the gateway asks for none.
        new_token: the token, if it was made just now, and where it is kept.
    """

    url: str
    dsn: str
    psql: str = "psql"
    authorization: str | None = None
    new_token: tuple[str, str] | None = None

    def short(self) -> str:
        """For those who have seen the rest."""
        key = f", with the token {self.authorization}" if self.authorization else ""
        return f"dashboard {self.url}/{key} (how to use the API: {self.url}/docs; how it fares: leasehold status)"

    def full(self, columns: int) -> list[str]:
        """Where things are and what to try first. Lines that are too long are left to the terminal, to stay one line when
        they are copied."""
        width = min(columns, WIDEST_RULE)
        title = "── leasehold is up "
        return [title + "─" * (width - len(title)), *self._body(), "─" * width]

    def _body(self) -> list[str]:
        database = f" {shlex.quote(redact_dsn(self.dsn))}" if self.dsn else ""
        header = f' -H "authorization: Bearer {self.authorization}"' if self.authorization else ""
        lines = [f"  dashboard  {self.url}/", f"  API        {self.url}/api/jobs", f"  docs       {self.url}/docs"]
        if self.new_token:
            lines += [f"  token      {self.new_token[0]}", f"             made just now; kept in {self.new_token[1]}"]
        return [
            *lines,
            "",
            "  Enqueue a job by HTTP, from SQL or from Python:",
            "",
            f"  curl {self.url}/api/jobs{header} --json '{JOB}'",
            "",
            f"""  {shlex.quote(self.psql)}{database} -c "select leasehold.enqueue_job('echo')\"""",
            "",
            f'  async with leasehold.open_client("{redact_dsn(self.dsn)}") as client:',
            '      await client.enqueue("echo", {"text": "hello"})',
            "",
            "  Then look with leasehold: status, jobs list, top, doctor",
        ]
