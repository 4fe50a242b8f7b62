"""Finds the records in the JSON of a payload, and reads of each only what is compared: that keeps memory small."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from leasehold.errors import BadInput

MOST_LEVELS = 6
MOST_RECORDS = 1_000_000
DEFAULT_KEY = "id"
DEFAULT_FIELDS = ("price", "stock")
NAME = "name"


_counter = msgspec.json.Decoder(list[msgspec.defstruct("Empty", [], gc=False)])


class Comparison(msgspec.Struct, frozen=True):
    """What makes two records the same one, and what of them is compared.

    Attributes:
        key: the field that identifies a record.
        fields: those whose changes are told.
        records: where the list of records is, as `data.products`; None: the payload is that list, or has only one.
    """

    key: str = DEFAULT_KEY
    fields: tuple[str, ...] = DEFAULT_FIELDS
    records: str | None = None


class ComparedRecord(NamedTuple):
    """What is compared of a record: its key, the values of the fields, and its name for people, if it has one."""

    key: Any
    values: tuple[Any, ...]
    name: Any


def records_in(content: bytes | bytearray, comparison: Comparison, what: str) -> list[ComparedRecord]:
    """The records of a payload. `what` names the payload in errors.

    Raises:
        BadInput: it is no JSON, has no such list, has too many records, or a record has no key.
    """
    try:
        found = _find(msgspec.Raw(content), comparison.records)
        _refuse_too_many(content, found, comparison.key, what)
        records = _decoder(comparison).decode(found)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"{what} has no records to compare by {comparison.key!r}: {error}") from error
    numbers = range(len(comparison.fields))
    read = [
        ComparedRecord(each.key, tuple(getattr(each, f"f{n}") for n in numbers), getattr(each, "name", None))
        for each in records
    ]
    if bad := next((each for each in read if not isinstance(each.key, (str, int))), None):
        raise BadInput(f"{what}: {comparison.key!r} must be a text or an integer in every record, not {bad.key!r:.100}")
    return read


def _refuse_too_many(content: bytes | bytearray, found: msgspec.Raw, key: str, what: str) -> None:
    """A record that is read takes much more memory than its JSON. They are counted only where that many keys are in the text."""
    if content.count(f'"{key}"'.encode()) > MOST_RECORDS and (count := len(_counter.decode(found))) > MOST_RECORDS:
        raise BadInput(f"{what} has {count:,} records, and {MOST_RECORDS:,} are the most that can be compared")


def check_comparison(comparison: Comparison) -> None:
    """Raises BadInput where fields are missing, doubled or the key."""
    fields = comparison.fields
    taken = {comparison.key, "added", "removed"}
    if odd := next(
        (each for each in (comparison.key, *fields) if not each.isprintable() or {*each} & {"\\", '"'}), None
    ):
        raise BadInput(f"a field that is compared has no quotes, backslashes or control characters, unlike {odd!r}")
    if (
        not comparison.key
        or not fields
        or not all(fields)
        or len({*fields}) < len(fields)
        or taken.intersection(fields)
    ):
        raise BadInput(
            f"a diff needs a key and other fields, each once; not key {comparison.key!r} and fields {list(fields)!r}"
        )


def _decoder(comparison: Comparison) -> msgspec.json.Decoder[Any]:
    names = {"key": comparison.key, **{f"f{n}": field for n, field in enumerate(comparison.fields)}}
    if NAME not in names.values():
        names["name"] = NAME
    fields: list[Any] = [(each, Any) if each == "key" else (each, Any, None) for each in names]
    return msgspec.json.Decoder(list[msgspec.defstruct("Record", fields, rename=names, gc=False)])


def _find(content: msgspec.Raw, path: str | None) -> msgspec.Raw:
    """The list of records, as JSON."""
    if path is not None:
        for part in path.split("."):
            members = _members(content)
            if part not in members:
                raise BadInput(f"there is no {path!r} in the payload; {part!r} is not among {_shown(members)}")
            content = members[part]
        return content
    for _ in range(MOST_LEVELS):
        if _begins(content, b"["):
            return content
        members = _members(content)
        lists = [name for name, value in members.items() if _begins(value, b"[")]
        inner = lists or [name for name, value in members.items() if _begins(value, b"{")]
        if len(inner) != 1:
            raise BadInput(f"say where the records of the payload are (records): it has {_shown(members)}")
        content = members[inner[0]]
    raise BadInput("say where the records of the payload are (records)")


def _members(content: msgspec.Raw) -> dict[str, msgspec.Raw]:
    return msgspec.json.decode(content, type=dict[str, msgspec.Raw])


def _begins(content: msgspec.Raw, with_: bytes) -> bool:
    return bytes(memoryview(content)[:64]).lstrip().startswith(with_)


def _shown(members: Sequence[str] | dict[str, Any]) -> str:
    return ", ".join(map(repr, [*members][:10])) or "nothing"
