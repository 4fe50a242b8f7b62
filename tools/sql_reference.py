"""Writes docs/sql.md from the headers of sql/functions: what anybody can call from psql or another language.

A function is public when its Callers line names clients, psql or other languages; the others are listed by name alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

ROOT = Path(__file__).parent.parent
FUNCTIONS = ROOT / "sql" / "functions"
TARGET = ROOT / "docs" / "sql.md"

PUBLIC = ("clients", "psql", "other languages", "own transaction", "own SQL")
LEAD = """# SQL functions

Made by `python tools/sql_reference.py` from the headers in `sql/functions/`; do not edit.

Everything leasehold does is a function in the schema `leasehold`. Call them from `psql` or from any language, inside your own
transaction or outside. Errors carry a SQLSTATE: LH001 bad input, LH002 no such thing, LH003 the lease is lost, LH004 the present
state forbids it, LH005 the schema does not fit, LH006 a unique job is there already, LH007 another request had the
idempotency key.
"""


class Function(msgspec.Struct, frozen=True):
    """One function: its name, its signature on one line, what it returns, and the lines of its header by word."""

    name: str
    signature: str
    header: Mapping[str, str]

    @property
    def is_public(self) -> bool:
        """Whether anybody but our own functions and actors is meant to call it."""
        return any(word in self.header["Callers"] for word in PUBLIC)


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
    return Function(definition[2], " ".join(definition[1].split()), header)


def describe(function: Function) -> str:
    """A section of the page."""
    lines = [f"### {function.name}", f"```sql\n{wrapped(function.signature)}\n```", function.header["Purpose"]]
    for word in ("Parameters", "Returns", "Errors", "Tables"):
        if function.header.get(word, "none") != "none":
            lines.append(f"- **{word}**: {function.header[word]}")
    return "\n".join([*lines[:3], "", *lines[3:]]) + "\n"


def wrapped(signature: str, width: int = 110) -> str:
    """The signature on as many lines as it needs."""
    if len(signature) <= width:
        return signature
    head, rest = signature.split("(", 1)
    inside, outside = (part.strip() for part in re.split(r"\) returns", rest, maxsplit=1))
    arguments = ",\n    ".join(re.split(r", (?=\"?\w+\"? \w)", inside))
    return f"{head}(\n    {arguments}\n) returns {outside}"


def page(functions: list[Function]) -> str:
    """The whole page."""
    public = [function for function in functions if function.is_public]
    inner = [f"`{function.name}`: {first_sentence(function)}" for function in functions if not function.is_public]
    index = " · ".join(f"[{function.name}](#{function.name})" for function in public)
    sections = "\n".join(describe(function) for function in public)
    listed = "\n".join(f"- {line}" for line in inner)
    return f"{LEAD}\n{index}\n\n## For everybody\n\n{sections}\n## For the actors and for each other\n\n{listed}\n"


def first_sentence(function: Function) -> str:
    """What it is for, in short."""
    return function.header["Purpose"].split(". ")[0].rstrip(".") + "."


def render() -> str:
    """The page for the files as they are."""
    return page([read_function(path.read_text()) for path in sorted(FUNCTIONS.glob("*.sql"))])


if __name__ == "__main__":
    TARGET.write_text(render())
