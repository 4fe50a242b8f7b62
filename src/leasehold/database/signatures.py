"""What each SQL function takes and answers with, in this release and in the one before, and calls that fit both.

`sql/signatures.txt` has the functions that roles may call, `sql/signatures_released.txt` those of the last release. A program
of the last release goes on working on the schema of this one; a program of this one does without what is new on the schema of
the last one (`Fit`).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import msgspec

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


class Value(msgspec.Struct, frozen=True):
    """A parameter, or a column of an answer."""

    name: str
    type: str


class Signature(msgspec.Struct, frozen=True):
    """One function. `optional`: how many parameters have a default, the last ones. A scalar has one column without a name."""

    function: str
    parameters: tuple[Value, ...]
    optional: int
    is_set: bool
    columns: tuple[Value, ...]

    @classmethod
    def parse(cls, line: str) -> Signature:
        """From a line of the files. Raises ValueError for another one."""
        found = re.fullmatch(r"(\w+)\((.*?)\) -> (setof )?(\(.*\)|[^()]+)", line)
        if found is None:
            raise ValueError(f"no signature: {line!r}")
        parameters = [each for each in found[2].split(", ") if each]
        answer = found[4]
        columns = [_value(each) for each in answer[1:-1].split(", ")] if answer.startswith("(") else [Value("", answer)]
        return cls(
            function=found[1],
            parameters=tuple(_value(each.removesuffix(" =")) for each in parameters),
            optional=sum(each.endswith(" =") for each in parameters),
            is_set=found[3] is not None,
            columns=tuple(columns),
        )

    def misfit(self, former: Signature) -> str | None:
        """Why a caller of `former` cannot call this instead, or would not understand the answer; None if it can."""
        for place, wanted in enumerate(former.parameters, 1):
            if place > len(self.parameters):
                return f"parameter {wanted.name} is gone"
            if (here := self.parameters[place - 1]) != wanted:
                return f"parameter {place} was {wanted.name} {wanted.type} and is {here.name} {here.type}"
        if len(self.parameters) - self.optional > len(former.parameters) - former.optional:
            return f"parameter {self.parameters[len(former.parameters) - former.optional].name} has no default"
        if self.is_set != former.is_set:
            return "it answers with " + ("rows" if self.is_set else "one value") + " now"
        if self.columns[: len(former.columns)] != former.columns:
            return "the first columns of its answer are not the former ones"
        return (
            "its answer is no single value any more" if len(self.columns) > 1 and not former.columns[0].name else None
        )


def parse(text: str) -> list[Signature]:
    """The signatures of a file."""
    return [Signature.parse(line) for line in text.splitlines() if line and not line.startswith("#")]


def broken_calls(former: Iterable[Signature], current: Collection[Signature]) -> list[str]:
    """The former signatures that no function takes any more, with the reasons."""
    found: list[str] = []
    for signature in former:
        reasons = [each.misfit(signature) for each in current if each.function == signature.function]
        if None not in reasons:
            found.append(f"{signature.function}: {' · '.join(filter(None, reasons)) or 'it is gone'}")
    return found


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
    return added_parameters(parse(read_text(RELEASED)), parse(read_text(CURRENT)))


def added_parameters(former: Iterable[Signature], current: Iterable[Signature]) -> Mapping[str, frozenset[str]]:
    """By function, the parameters that it has in `current` and had not in `former`."""
    was: dict[str, set[str]] = {}
    for signature in former:
        was.setdefault(signature.function, set()).update(each.name for each in signature.parameters)
    found: dict[str, set[str]] = {}
    for signature in current:
        if signature.function in was:
            names = {each.name for each in signature.parameters} - was[signature.function]
            found.setdefault(signature.function, set()).update(names)
    return {function: frozenset(names) for function, names in found.items() if names}


def _value(text: str) -> Value:
    name, _, kind = text.partition(" ")
    return Value(name, kind)


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
