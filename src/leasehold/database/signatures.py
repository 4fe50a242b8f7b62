"""What each SQL function takes and answers with, in this release and in the one before, and calls that fit both.

`sql/signatures.txt` has the functions that roles may call, `sql/signatures_released.txt` those of the last release. A program
of the last release goes on working on the schema of this one; a program of this one does without what is new on the schema of
the last one (`Fit`).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from leasehold.sql import read_text

if TYPE_CHECKING:
    from asyncpg import Record as Row

CURRENT = "signatures.txt"
RELEASED = "signatures_released.txt"
HEAD = re.compile(r"# last release: (?P<name>\S+), schema (?P<schema>\d+)\n")

PARAMETERS = """
select p.proname::text as function, array_agg(n) as names from pg_catalog.pg_proc p cross join unnest(p.proargnames) n
 where p.pronamespace = to_regnamespace('leasehold') and p.proname = any ($1) group by 1
"""


@cache
def released_schema() -> int:
    """The number of the newest migration of the last release."""
    found = HEAD.match(read_text(RELEASED))
    if found is None:
        raise ValueError(f"sql/{RELEASED} does not begin with `# last release: NAME, schema NUMBER`")
    return int(found["schema"])


@cache
def new_parameters() -> Mapping[str, frozenset[str]]:
    """By function, the parameters that it has since this release. Functions that are new as a whole are not among them."""
    return added_parameters(read_text(RELEASED), read_text(CURRENT))


def added_parameters(former: str, current: str) -> Mapping[str, frozenset[str]]:
    """By function, the parameters that it has in `current` and had not in `former`."""
    was, now = _parameters(former), _parameters(current)
    added = {function: names - was.get(function, names) for function, names in now.items()}
    return {function: names for function, names in added.items() if names}


def _parameters(text: str) -> dict[str, frozenset[str]]:
    """By function, the names of the parameters of all its signatures."""
    found: dict[str, frozenset[str]] = {}
    for function, listed in re.findall(r"^(\w+)\((.*?)\) -> ", text, re.MULTILINE):
        names = {each.partition(" ")[0] for each in listed.split(", ") if each}
        found[function] = found.get(function, frozenset()) | names
    return found


Fetch: TypeAlias = "Callable[..., Awaitable[list[Row]]]"
"""Runs a statement and returns its rows."""


class Fit:
    """Leaves out the parameters that are new in this release where the database does not know them yet.

    It asks the database once, when one of them is first given a value; on a schema of this release nothing is left out. A
    process that started on the former schema does without them until it is started again.
    """

    def __init__(self, added: Mapping[str, frozenset[str]] | None = None) -> None:
        self._added = new_parameters() if added is None else added
        self._lacking: Mapping[str, frozenset[str]] | None = None

    def concerns(self, function: str, named: Mapping[str, object]) -> bool:
        """Whether the call has a parameter that is new."""
        return function in self._added and not self._added[function].isdisjoint(named)

    async def suit(self, fetch: Fetch, function: str, named: Mapping[str, object]) -> dict[str, object]:
        """The named values that the function in the database takes."""
        lacking = (await self.lacking(fetch)).get(function, frozenset())
        return {name: value for name, value in named.items() if name not in lacking}

    async def lacking(self, fetch: Fetch) -> Mapping[str, frozenset[str]]:
        """By function, the parameters of this release that the database does not know."""
        if self._lacking is None:
            rows = await fetch(PARAMETERS, sorted(self._added)) if self._added else []
            known = {row["function"]: frozenset(row["names"]) for row in rows}
            lacking = {each: names - known.get(each, names) for each, names in self._added.items()}
            self._lacking = {function: names for function, names in lacking.items() if names}
        return self._lacking
