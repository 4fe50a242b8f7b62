"""From rows of the database to records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from leasehold.drivers.adapter import AnsweredRow

JSON_COLUMNS = frozenset(
    {"args", "result", "output", "error", "metadata", "detail", "facts", "counts", "blackouts", "declared"}
    | {"retry", "unique", "args_schema", "output_schema", "conflicts"}
)


def decode_json(text: str) -> Any:
    """What a jsonb column holds. Postgres keeps numbers of any size, Python reads those with some thousand digits as text."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text


S = TypeVar("S", bound=msgspec.Struct)


def from_row(record: type[S], row: AnsweredRow) -> S:
    """A record from a row that has a column for each of its fields."""
    return record(**decoded(row, record.__struct_fields__))


def decoded(row: AnsweredRow, names: Iterable[str] | None = None) -> dict[str, Any]:
    """The columns of a row, all or these, with what is JSON in them decoded, unless a driver of the caller's has done so."""
    values: dict[str, Any] = {}
    for name in row.keys() if names is None else names:
        value = row[name]
        values[name] = decode_json(value) if name in JSON_COLUMNS and isinstance(value, str) else value
    return values
