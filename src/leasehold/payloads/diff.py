"""What has changed from one payload to another: finding the records in their JSON, and comparing them field by field.

Of each record only what is compared is read: that keeps memory small.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import GenericAlias
from typing import Any, NamedTuple, cast

import msgspec

from leasehold.concurrency.flavours import in_thread
from leasehold.errors import BadInput
from leasehold.payloads.archive import Archive
from leasehold.payloads.content import read_content
from leasehold.records.payloads import PayloadDiff, PayloadRecord, PayloadSide

MOST_LEVELS = 6
MOST_RECORDS = 1_000_000
DEFAULT_KEY = "id"
DEFAULT_FIELDS = ("price", "stock")
NAME = "name"

_counter = msgspec.json.Decoder(cast("type[list[Any]]", GenericAlias(list, msgspec.defstruct("Empty", [], gc=False))))

MOST_COMPARED = 256 << 20
MOST_LISTED = 10_000


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
    record = msgspec.defstruct("Record", fields, rename=names, gc=False)
    return msgspec.json.Decoder(cast("type[list[Any]]", GenericAlias(list, record)))


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


class FieldChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """A record of which a field has changed. `name` is the record's own, if it has one."""

    key: Any
    old: Any = msgspec.field(name="from")
    new: Any = msgspec.field(name="to")
    name: Any = None


class Difference(msgspec.Struct, frozen=True):
    """What a diff found. The counts are whole; the lists stop at the limit.

    Attributes:
        before, after: how many records there were.
        counts: of `added`, `removed` and of each field.
        added, removed: records, as an object of what is compared.
        changes: by field.
    """

    before: int
    after: int
    counts: dict[str, int]
    added: list[dict[str, Any]]
    removed: list[dict[str, Any]]
    changes: dict[str, list[FieldChange]]


def diff_records(
    before: Iterable[ComparedRecord],
    after: Iterable[ComparedRecord],
    fields: tuple[str, ...],
    *,
    key: str = "id",
    limit: int = 1000,
) -> Difference:
    """Compare two lists of records, in the order of the second one.

    Args:
        before, after: the records; of several with one key the last one counts.
        fields: the names of their values.
        key: the name of their key.
        limit: how many of each are listed.
    """
    old = {each.key: each for each in before}
    new = {each.key: each for each in after}
    counts = dict.fromkeys(("added", "removed", *fields), 0)
    added: list[dict[str, Any]] = []
    changes: dict[str, list[FieldChange]] = {field: [] for field in fields}
    for name, record in new.items():
        was = old.get(name)
        if was is None:
            counts["added"] += 1
            if len(added) < limit:
                added.append(_described(record, key, fields))
        elif was.values != record.values:
            for field, value, former in zip(fields, record.values, was.values, strict=True):
                if value != former:
                    counts[field] += 1
                    if len(changes[field]) < limit:
                        changes[field].append(FieldChange(name, former, value, record.name))
    gone = [record for name, record in old.items() if name not in new]
    counts["removed"] = len(gone)
    removed = [_described(each, key, fields) for each in gone[:limit]]
    return Difference(len(old), len(new), counts, added, removed, changes)


def _described(record: ComparedRecord, key: str, fields: tuple[str, ...]) -> dict[str, Any]:
    name = {} if record.name is None else {"name": record.name}
    return {key: record.key, **name, **dict(zip(fields, record.values, strict=True))}


async def compare_payloads(
    archive: Archive, before: PayloadRecord, after: PayloadRecord, comparison: Comparison, limit: int
) -> PayloadDiff:
    """What has changed from one payload to the other. See `Payloads.diff` of the client."""
    check_comparison(comparison)
    if not 0 <= limit <= MOST_LISTED:
        raise BadInput(f"limit must be from 0 to {MOST_LISTED}, not {limit}")
    _refuse_unlike(before, after)
    return await in_thread(_compare, archive, before, after, comparison, limit)


def _refuse_unlike(before: PayloadRecord, after: PayloadRecord) -> None:
    pair = f"payloads {before.id} and {after.id} cannot be compared"
    if before.kind != after.kind:
        raise BadInput(f"{pair}: one is a {before.kind}, the other a {after.kind}")
    for each in (before, after):
        if not each.media_type.endswith("json"):
            raise BadInput(f"{pair}: {each.id} is {each.media_type}, not JSON")
        if each.size > MOST_COMPARED:
            raise BadInput(f"{pair}: {each.id} has {each.size:,} bytes, and {MOST_COMPARED:,} are the most")


def _compare(
    archive: Archive, before: PayloadRecord, after: PayloadRecord, comparison: Comparison, limit: int
) -> PayloadDiff:
    old, new = _records(archive, before, comparison), _records(archive, after, comparison)
    found = diff_records(old, new, comparison.fields, key=comparison.key, limit=limit)
    names = {name: name if name in ("added", "removed") else f"{name}Changes" for name in found.counts}
    return PayloadDiff(
        success=True,
        before=PayloadSide(before.id, before.created_at, found.before),
        after=PayloadSide(after.id, after.created_at, found.after),
        diff={names[name]: count for name, count in found.counts.items()},
        details={
            "added": found.added,
            "removed": found.removed,
            **{names[field]: changes for field, changes in found.changes.items()},
        },
    )


def _records(archive: Archive, payload: PayloadRecord, comparison: Comparison) -> list[ComparedRecord]:
    content = bytearray()  # joining the pieces would take the memory of the content twice
    for piece in read_content(archive.store, payload):
        content += piece
    return records_in(content, comparison, f"payload {payload.id}")
