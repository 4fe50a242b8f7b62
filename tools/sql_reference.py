"""Writes docs/sql.md from the files in sql/functions, grouped by folder: what can be called from psql or another language.

`sql/roles.sql` says which functions are public: those that a role may call. A public function gets a section; one
that only other functions call gets a line. Who calls whom is searched in the bodies of the functions and views.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from leasehold.access.roles import EVERYBODY, ROLE_NAMES, functions_of, internal_functions, read_roles

ROOT = Path(__file__).parent.parent
FUNCTIONS = ROOT / "sql" / "functions"
VIEWS = ROOT / "sql" / "views"
FOLDERS = FUNCTIONS / "README.md"
TARGET = ROOT / "docs" / "sql.md"

LEAD = """# SQL functions

Made by `python tools/sql_reference.py` from the files in `sql/functions/`; do not edit.

Everything leasehold does is a function in the schema `leasehold`. Call them from `psql` or from any language, inside your own
transaction or outside. Errors carry a SQLSTATE: LH001 bad input, LH002 no such thing, LH003 the lease is lost, LH004 the present
state forbids it, LH005 the schema does not fit, LH006 a unique job is there already, LH007 another request had the
idempotency key, LH008 another session holds the job's row, LH009 the epoch that a worker named is over,
LH010 the database has another encoding than UTF8.

The headings are the folders of `sql/functions/`. Where `leasehold grants` has made roles, the roles that a section names may call
the function, and so may the owner and each role that includes one of them (worker includes producer and
waiter; operator includes producer, waiter and reader). Without roles, the user who ran `leasehold migrate` may. Only other
functions call those listed as internal.
"""


class Function(msgspec.Struct, frozen=True):
    """One function: its name, its signature on one line, the lines of its header by word, and its text without comments."""

    name: str
    signature: str
    header: Mapping[str, str]
    body: str

    @property
    def is_public(self) -> bool:
        """Whether a role may call it."""
        return self.name not in internal_functions()

    @property
    def roles(self) -> list[str]:
        """The roles that may call it, without those that may because they include another one."""
        return [
            role
            for role in ROLE_NAMES
            if role not in {"owner", "query"}
            and self.name in functions_of(role)
            and not any(self.name in functions_of(each) for each in read_roles()[role].includes)
        ]

    @property
    def summary(self) -> str:
        """The first sentence of its purpose."""
        return self.header["Purpose"].split(". ")[0].rstrip(".") + "."


def read_function(text: str) -> Function:
    """What a file says of the function that it defines."""
    header: dict[str, str] = {}
    word = ""
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        if found := re.match(r"-- ([A-Z]\w+) {2,}(.*)", line):
            word = found[1]
            header[word] = found[2].strip()
        else:
            more = line.removeprefix("--").strip()
            header[word] += (" · " if re.match(r"\w+(, \w+)*: |LH\d", more) else " ") + more
    definition = re.search(
        r"create or replace function (leasehold\.(\w+)\(.*?\)\s*returns.*?)\s+language", text, re.DOTALL
    )
    if definition is None:
        raise ValueError(f"no function is defined in {text[:80]!r}")
    return Function(definition[2], " ".join(definition[1].split()), header, without_comments(text))


def without_comments(text: str) -> str:
    """The text that Postgres executes."""
    return re.sub(r"--[^\n]*", "", text)


def callers_of(name: str, bodies: Mapping[str, str]) -> list[str]:
    """The functions and views, by name, in whose bodies a function is called."""
    return sorted(caller for caller, body in bodies.items() if caller != name and f"leasehold.{name}(" in body)


def describe(function: Function, callers: list[str]) -> str:
    """The section of a public function."""
    lines = [f"### {function.name}", f"```sql\n{wrapped(function.signature)}\n```", function.header["Purpose"], ""]
    for word in ("Parameters", "Returns", "Errors", "Tables"):
        if function.header.get(word, "none") != "none":
            lines.append(f"- **{word}**: {function.header[word]}")
    lines.append(f"- **Roles**: {'all' if function.name in EVERYBODY else ', '.join(function.roles)}")
    if callers and function.name not in EVERYBODY:
        lines.append(f"- **Called by**: {named(callers)}")
    return "\n".join(lines) + "\n"


def mention(function: Function, callers: list[str]) -> str:
    """The line of an internal function."""
    return f"- `{function.name}`: {function.summary} Called by {named(callers) or 'no other function'}."


def named(names: list[str]) -> str:
    """Names in code quotes."""
    return ", ".join(f"`{name}`" for name in names)


def wrapped(signature: str, width: int = 110) -> str:
    """The signature on as many lines as it needs."""
    if len(signature) <= width:
        return signature
    head, rest = signature.split("(", 1)
    inside, outside = (part.strip() for part in re.split(r"\) returns", rest, maxsplit=1))
    arguments = ",\n    ".join(re.split(r", (?=\"?\w+\"? \w)", inside))
    return f"{head}(\n    {arguments}\n) returns {outside}"


def described_folders(text: str) -> dict[str, str]:
    """What sql/functions/README.md says of each folder, by its path in sql/functions."""
    return dict(re.findall(r"^\| `([\w/]+)/` \| (.+) \|$", text, re.MULTILINE))


def chapter(folder: str, about: str, functions: list[Function], bodies: Mapping[str, str]) -> str:
    """The part of the page about one folder."""
    sections = [describe(each, callers_of(each.name, bodies)) for each in functions if each.is_public]
    mentions = [mention(each, callers_of(each.name, bodies)) for each in functions if not each.is_public]
    inner = ["**Internal**\n\n" + "\n".join(mentions) + "\n"] if mentions else []
    return "\n".join([f"## {folder}\n\n{about}\n", *sections, *inner])


def index(folders: Mapping[str, list[Function]]) -> str:
    """Links to all public functions, a line for each folder."""
    return "\n".join(
        f"- **{folder}**: " + " · ".join(f"[{each.name}](#{each.name})" for each in functions if each.is_public)
        for folder, functions in folders.items()
        if any(each.is_public for each in functions)
    )


def render() -> str:
    """The page for the files as they are."""
    folders: dict[str, list[Function]] = {}
    for path in sorted(FUNCTIONS.rglob("*.sql"), key=lambda path: (path.parent, path.name)):
        folders.setdefault(path.parent.relative_to(FUNCTIONS).as_posix(), []).append(read_function(path.read_text()))
    bodies = {path.stem: without_comments(path.read_text()) for path in VIEWS.glob("*.sql")}
    bodies |= {each.name: each.body for functions in folders.values() for each in functions}
    about = described_folders(FOLDERS.read_text())
    chapters = [chapter(folder, about[folder], functions, bodies) for folder, functions in folders.items()]
    return "\n".join([LEAD, index(folders) + "\n", *chapters])


if __name__ == "__main__":
    TARGET.write_text(render())
