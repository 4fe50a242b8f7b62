"""What `leasehold up` tells about itself once it serves: everything at the first run, a line or two later."""

from __future__ import annotations

import shlex

import msgspec

from leasehold.observability.logs import redact_dsn

WIDEST_RULE = 78
JOB = """{"kind": "echo", "args": {"text": "hello"}}"""


class Hints(msgspec.Struct, frozen=True, kw_only=True):
    """What `leasehold up` prints.

    Attributes:
        url: of the gateway.
        dsn: of the database; its password is not shown.
        psql: the program.
        authorization: what to send as a bearer token, in words that a shell understands; None: the gateway asks for none.
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
