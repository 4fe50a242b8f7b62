"""Diffs of two payloads."""

from __future__ import annotations

from leasehold.concurrency.flavours import in_thread
from leasehold.errors import BadInput
from leasehold.payloads.archive import Archive
from leasehold.payloads.diff import Difference, diff_records
from leasehold.payloads.reading import read_content
from leasehold.payloads.records_in import ComparedRecord, Comparison, check_comparison, records_in
from leasehold.records.payloads import PayloadDiff, PayloadRecord, PayloadSide

MOST_COMPARED = 256 << 20
MOST_LISTED = 10_000


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
    return _answer(before, after, found)


def _records(archive: Archive, payload: PayloadRecord, comparison: Comparison) -> list[ComparedRecord]:
    content = bytearray()  # joining the pieces would take the memory of the content twice
    for piece in read_content(archive.store, payload):
        content += piece
    return records_in(content, comparison, f"payload {payload.id}")


def _answer(before: PayloadRecord, after: PayloadRecord, found: Difference) -> PayloadDiff:
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
