"""From rows of the database to records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from leasehold.database.calls import Row

JSON_COLUMNS = frozenset(
    {"args", "result", "output", "error", "metadata", "detail", "facts", "counts", "blackouts", "declared"}
)


def decode_json(text: str) -> Any:
    """What a jsonb column holds. Postgres keeps numbers of any size, Python reads those with some thousand digits as text."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


S = TypeVar("S", bound=msgspec.Struct)


def from_row(record: type[S], row: Row) -> S:
    """A record from a row that has a column for each of its fields."""
    return record(**decoded(row, record.__struct_fields__))


def decoded(row: Row, names: Iterable[str] | None = None) -> dict[str, Any]:
    """The columns of a row, all or these, with what is JSON in them decoded."""
    values: dict[str, Any] = {}
    for name in row.keys() if names is None else names:
        value = row[name]
        values[name] = decode_json(value) if name in JSON_COLUMNS and value is not None else value
    return values
