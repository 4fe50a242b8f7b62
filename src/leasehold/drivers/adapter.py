"""What an adapter is: how one library runs a statement on a connection that its user has opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from leasehold.drivers.statements import Style


class AnsweredRow(Protocol):
    """A row, by the names of its columns: a dict, or one of asyncpg. JSON in it is text, or decoded where a library insists."""

    def __getitem__(self, name: str, /) -> Any: ...
    def keys(self) -> Iterable[str]:
        """The names."""
        ...

    def values(self) -> Iterable[Any]:
        """The values, in the order of the names."""
        ...


class Adapter(NamedTuple):
    """One library.

    Attributes:
        style: how it writes places for values.
        fetch: takes the connection, a text of this style and the values. It runs them as one statement in the transaction of
            the caller, and answers with rows; it raises NoTransaction where every statement commits by itself, and our errors
            for those of Postgres.
        awaits: whether the answer of `fetch` is awaited, under asyncio.
    """

    style: Style
    fetch: Callable[[Any, str, Sequence[Any]], Any]
    awaits: bool = False
