"""One call of a SQL function, and how to read what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec

from leasehold.drivers.adapter import AnsweredRow

T = TypeVar("T")

Rows: TypeAlias = "Sequence[AnsweredRow]"


class Ask(msgspec.Struct, Generic[T], frozen=True):
    """What is asked.

    Attributes:
        function: of the schema leasehold.
        values: of its parameters, in their order.
        read: makes the result of its rows, or raises.
    """

    function: str
    values: tuple[Any, ...]
    read: Callable[[Rows], T]


def first_value(rows: Rows) -> Any:
    """The first column of the first row; None where there is no row."""
    return next(iter(rows[0].values())) if rows else None


def first_text(rows: Rows) -> str:
    """As `first_value`, of a function that answers with a word."""
    return str(first_value(rows))


def first_ids(rows: Rows) -> list[int]:
    """As `first_value`, of a function that answers with ids."""
    return [*first_value(rows)]
