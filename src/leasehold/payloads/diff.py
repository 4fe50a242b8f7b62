"""What has changed between two lists of records: a pure function."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from leasehold.payloads.records_in import ComparedRecord


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
                added.append(_told(record, key, fields))
        elif was.values != record.values:
            for field, value, former in zip(fields, record.values, was.values, strict=True):
                if value != former:
                    counts[field] += 1
                    if len(changes[field]) < limit:
                        changes[field].append(FieldChange(name, former, value, record.name))
    gone = [record for name, record in old.items() if name not in new]
    counts["removed"] = len(gone)
    removed = [_told(each, key, fields) for each in gone[:limit]]
    return Difference(len(old), len(new), counts, added, removed, changes)


def _told(record: ComparedRecord, key: str, fields: tuple[str, ...]) -> dict[str, Any]:
    name = {} if record.name is None else {"name": record.name}
    return {key: record.key, **name, **dict(zip(fields, record.values, strict=True))}
