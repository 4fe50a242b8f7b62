"""Looks for payloads without content and for content without a payload, and repairs both."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import cast

import msgspec

from leasehold.concurrency.flavours import each_in_thread, in_thread
from leasehold.errors import StoreUnavailable
from leasehold.payloads.archive import Archive, record_of
from leasehold.payloads.stores import BlobStore
from leasehold.records.jobs import Fault
from leasehold.records.payloads import PayloadRecord

BATCH = 500
NO_CONTENT = "payload_without_content"
OF_NOBODY = "file_of_nobody"
PAYLOAD_FINDINGS = frozenset({NO_CONTENT, OF_NOBODY})


async def audit_payloads(archive: Archive, *, repair: bool = False) -> list[Fault]:
    """Compare all rows with all files.

    `payload_without_content`: its file is missing or has another length; repaired by deleting the payload.
    `file_of_nobody`: no payload names it, and it is older than a payload may take to be written; repaired by deleting it.

    Raises:
        StoreUnavailable, NoPayloadStore: the store cannot be asked, or it is empty although there are payloads: a volume that is
            not mounted, or another bucket. A repair would then delete them all.
    """
    await _refuse_empty(archive)
    found: list[Fault] = []
    for faults in (_without_content(archive), _of_nobody(archive)):
        async with aclosing(faults) as each_fault:
            found += [await repair_payload_fault(archive, each) if repair else each async for each in each_fault]
    return found


async def repair_payload_fault(archive: Archive, fault: Fault) -> Fault:
    """Delete what an audit found, if it still is as it was found. Returns the fault, and whether it is repaired.

    Raises:
        StoreUnavailable, NoPayloadStore: as above.
    """
    sort, _, name = fault.subject.partition(" ")
    if sort == "payload":
        rows = await archive.caller.call("get_payload", int(name))
        amiss = await in_thread(_amiss, archive.store, [record_of(row) for row in rows])
        done = bool(amiss) and await archive.delete([payload.id for payload, _ in amiss]) > 0
    else:
        done = bool(await archive.caller.call("list_orphan_files", [name]))
        if done:
            await in_thread(archive.store.delete, name)
    return msgspec.structs.replace(fault, is_repaired=done)


async def _refuse_empty(archive: Archive) -> None:
    if await in_thread(_is_empty, archive.store) and await archive.caller.call("list_payloads", page_size=1):
        message = "is empty although there are payloads: is its volume mounted, and is it the right folder or bucket?"
        raise StoreUnavailable(f"the payload store {archive.store.name} {message} Nothing was changed.")


def _is_empty(store: BlobStore) -> bool:
    return next(iter(store.files()), None) is None


async def _without_content(archive: Archive) -> AsyncGenerator[Fault]:
    before_id: int | None = None
    while rows := await archive.caller.call("list_payloads", before_id=before_id, page_size=BATCH):
        payloads = [record_of(row) for row in rows]
        for payload, size in await in_thread(_amiss, archive.store, payloads):
            there = "there is no such file" if size is None else _half(size, payload)
            message = f"{there}: {payload.location} in {archive.store.name}"
            yield _fault(NO_CONTENT, f"payload {payload.id}", message, payload.job_id)
        before_id = payloads[-1].id


def _half(size: int, payload: PayloadRecord) -> str:
    return f"the file has {size:,} bytes, {payload.compressed_size:,} were written"


def _amiss(store: BlobStore, payloads: list[PayloadRecord]) -> list[tuple[PayloadRecord, int | None]]:
    sizes = [(each, store.size(each.location)) for each in payloads]
    return [(each, size) for each, size in sizes if size != each.compressed_size]


async def _of_nobody(archive: Archive) -> AsyncGenerator[Fault]:
    message = f"no payload names it, and it was written more than a day ago; the store is {archive.store.name}"
    now = cast("datetime", await archive.caller.call_value("clock"))
    patience = cast("timedelta", await archive.caller.call_value("payload_patience"))
    async with aclosing(each_in_thread(_old_files(archive.store, now - patience))) as batches:
        async for batch in batches:
            for row in await archive.caller.call("list_orphan_files", batch):
                yield _fault(OF_NOBODY, f"file {row[0]}", message)


def _old_files(store: BlobStore, before: datetime) -> Iterator[list[str]]:
    """The files that were written before this time, in batches."""
    batch: list[str] = []
    for file in store.files():
        if file.written_at < before:
            batch.append(file.location)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def fault_of_store(finding: str, explanation: str) -> Fault:
    """That the store could not be looked into: `store_unavailable`, `audit_unfinished`."""
    return _fault(finding, "payload store", explanation)


def _fault(finding: str, subject: str, explanation: str, job_id: int | None = None) -> Fault:
    return Fault(finding=finding, job_id=job_id, subject=subject, explanation=explanation, is_repaired=False)
