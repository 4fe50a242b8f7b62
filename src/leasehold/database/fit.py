"""Calls that fit the functions in the database, also where that still has the schema of the release before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from leasehold.database.signatures import new_parameters

if TYPE_CHECKING:
    from asyncpg import Record as Row

PARAMETERS = """
select p.proname::text as function, array_agg(n) as names from pg_catalog.pg_proc p cross join unnest(p.proargnames) n
 where p.pronamespace = to_regnamespace('leasehold') and p.proname = any ($1) group by 1
"""


class Asks(Protocol):
    """Anything that can run a statement."""

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        """Run one statement and return its rows."""
        ...


class Fit:
    """Leaves out the parameters that are new in this release where the database does not know them yet.

    It asks the database once, when one of them is first given a value; on a schema of this release nothing is left out. A
    process that started on the former schema does without them until it is started again.
    """

    def __init__(self, news: Mapping[str, frozenset[str]] | None = None) -> None:
        self._news = new_parameters() if news is None else news
        self._lacking: Mapping[str, frozenset[str]] | None = None

    def concerns(self, function: str, named: Mapping[str, object]) -> bool:
        """Whether the call has a parameter that is new."""
        return function in self._news and not self._news[function].isdisjoint(named)

    async def suit(self, caller: Asks, function: str, named: Mapping[str, object]) -> dict[str, object]:
        """The named values that the function in the database takes."""
        lacking = (await self.lacking(caller)).get(function, frozenset())
        return {name: value for name, value in named.items() if name not in lacking}

    async def lacking(self, caller: Asks) -> Mapping[str, frozenset[str]]:
        """By function, the parameters of this release that the database does not know."""
        if self._lacking is None:
            self._lacking = await find_lacking(caller, self._news) if self._news else {}
        return self._lacking


async def find_lacking(caller: Asks, news: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
    """Those of the new parameters that the functions in the database do not have."""
    rows = await caller.fetch(PARAMETERS, sorted(news))
    known = {row["function"]: frozenset(row["names"]) for row in rows}
    return {function: names - known[function] for function, names in news.items() if names - known.get(function, names)}
