"""Payloads: what is too large for a row."""

from __future__ import annotations

import builtins
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, TypeVar, overload

from leasehold.asks import checked_before, checked_id
from leasehold.client.core import Part
from leasehold.database.calls import CallersConnection
from leasehold.errors import UnknownPayload
from leasehold.payloads.archive import Archive, record_of
from leasehold.payloads.auditing import audit_payloads, repair_payload_fault
from leasehold.payloads.diff import DEFAULT_FIELDS, DEFAULT_KEY, Comparison, compare_payloads
from leasehold.records.jobs import ChainRecord, Fault, JobRecord
from leasehold.records.payloads import PayloadDiff, PayloadRecord

T = TypeVar("T")
R = TypeVar("R", JobRecord, ChainRecord)


class Payloads(Part):
    """`client.payloads`: content in a folder or bucket (LEASEHOLD_PAYLOADS_STORE), and what is known of it in the database.

    Calls that need content raise NoPayloadStore where no store is set, and StoreUnavailable where it cannot be used.
    """

    async def save(
        self,
        content: Any,
        *,
        kind: str,
        key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        media_type: str | None = None,
        codec: str = "gzip",
        connection: CallersConnection | None = None,
    ) -> PayloadRecord:
        """Save a payload. When this returns, its content and its row survive a crash.

        The content is made in a temporary file first; a payload that is too large, or a full disk, leaves nothing behind.

        Example:
            saved = await client.payloads.save({"products": products}, kind="catalogue", key="shop 7")

        Args:
            content: bytes, a `Path`, a binary file, or an iterator of bytes, also an asynchronous one: saved as they come, in
                constant memory. Anything else is saved as JSON.
            kind: what sort of payload it is.
            key: what it is about; `latest` and diffs go by it.
            metadata: what you counted or noted, a JSON object: {"products": 105}.
            media_type: of bytes, as `image/png`; application/octet-stream if not given.
            codec: `gzip`, or `none` for what is compressed already.
            connection: your own transaction, as in `enqueue`: the payload exists when, and only if, it commits.

        Raises:
            PayloadTooLarge: it has more than 2 GiB, or LEASEHOLD_PAYLOADS_LIMIT_BYTES.
            BadInput: it is neither bytes nor JSON, or another value is refused.
        """
        caller = None if connection is None else self._core.caller(connection)
        return await self._core.archive.save(
            content, kind=kind, key=key, metadata=metadata, media_type=media_type, codec=codec, caller=caller
        )

    async def get(self, payload_id: int) -> PayloadRecord:
        """Return what is known of one payload.

        Raises:
            UnknownPayload: no payload has this id, or it was deleted.
        """
        return await self._core.archive.get(checked_id(payload_id))

    async def fill(self, record: R) -> R:
        """Return a job or a chain with its args and output, where these lie in the payload store and a list has shown their claim
        checks. `client.get` and `client.wait` do it by themselves.

        Raises:
            UnknownPayload, PayloadMissing, PayloadDamaged, StoreUnavailable: they cannot be loaded.
        """
        return await self._core.locker.filled(record)

    async def list(
        self,
        *,
        key: str | None = None,
        kind: str | None = None,
        job_id: int | None = None,
        before_id: int | None = None,
        page_size: int = 100,
    ) -> builtins.list[PayloadRecord]:
        """List a page of payloads, newest first; pass the last `id` as `before_id` for the next.

        Args:
            key, kind, job_id: only those about it, of it, saved by it.
            before_id: only older ones.
            page_size: 1 to 1000.
        """
        job = None if job_id is None else checked_id(job_id)
        rows = await self._database.call("list_payloads", key, kind, job, checked_before(before_id), page_size)
        return [record_of(row) for row in rows]

    async def latest(self, key: str, kind: str | None = None) -> PayloadRecord | None:
        """Return the newest payload about a key; None: there is none."""
        found = await self.list(key=key, kind=kind, page_size=1)
        return found[0] if found else None

    @overload
    async def load(self, payload: int | PayloadRecord) -> Any: ...
    @overload
    async def load(self, payload: int | PayloadRecord, value_type: type[T]) -> T: ...
    async def load(self, payload: int | PayloadRecord, value_type: Any = Any) -> Any:
        """Return the JSON value that was saved, checked against length and checksum.

        Args:
            payload: its id or its record.
            value_type: the type of the value, a Struct for example; without it the value is plain JSON.

        Raises:
            UnknownPayload: as `get`.
            PayloadMissing, PayloadDamaged: the store does not have it, or not as it was saved.
            BadInput: it is no JSON of this type.
        """
        return await self._core.archive.load(payload, value_type)

    async def read(self, payload: int | PayloadRecord) -> bytes:
        """Return the whole content, checked against length and checksum.

        Raises:
            UnknownPayload, PayloadMissing, PayloadDamaged: as `load`.
        """
        return await self._core.archive.read(payload)

    async def stream(self, payload: int | PayloadRecord) -> AsyncGenerator[bytes]:
        """Read the content in pieces, in constant memory: `async for piece in client.payloads.stream(7)`.

        Where length or checksum are wrong, PayloadDamaged comes instead of the last piece: do not trust those before.
        """
        async with aclosing(self._core.archive.stream(payload)) as pieces:
            async for piece in pieces:
                yield piece

    async def delete(self, payload_id: int) -> None:
        """Delete a payload: its content, then its row.

        Raises:
            UnknownPayload: as `get`.
        """
        found = await self.get(payload_id)
        await self._core.archive.delete([found.id])

    async def diff(
        self,
        key: str,
        before: int | None = None,
        after: int | None = None,
        *,
        kind: str | None = None,
        record_key: str = DEFAULT_KEY,
        fields: Sequence[str] = DEFAULT_FIELDS,
        records: str | None = None,
        limit: int = 1000,
    ) -> PayloadDiff:
        """Compare two payloads about a key: which records were added and removed, and of which a field has changed.

        Example:
            diff = await client.payloads.diff("101", fields=["price", "stock", "brand"])
            print(diff.diff["priceChanges"])

        Args:
            key: what both are about.
            before, after: their ids. Without `after` it is the newest, without `before` the one before `after`.
            kind: where none is named, only payloads of this kind are looked for.
            record_key: the field that identifies a record.
            fields: those that are compared.
            records: where the list of records is, as `data.products`; None: the payload is that list, or has only one.
            limit: how many of each are listed, up to 10000; all are counted.

        Raises:
            UnknownPayload: there is no such payload about this key, or none to compare with.
            BadInput: they cannot be compared: other kinds, no JSON, no such records, more than 256 MiB or a
                million records.
            PayloadMissing, PayloadDamaged: as `load`.
        """
        new = await self._about(key, kind, after, None)
        old = await self._about(key, kind, before, new.id)
        comparison = Comparison(record_key, tuple(fields), records)
        return await compare_payloads(self._core.archive, old, new, comparison, limit)

    async def _about(self, key: str, kind: str | None, payload_id: int | None, before_id: int | None) -> PayloadRecord:
        if payload_id is not None:
            found = await self.get(payload_id)
            if found.key == key:
                return found
            raise UnknownPayload(f"payload {payload_id} is not about {key!r}")
        page = await self.list(key=key, kind=kind, before_id=before_id, page_size=1)
        if page:
            return page[0]
        older = "" if before_id is None else f" before payload {before_id}; a diff needs two"
        raise UnknownPayload(f"there is no payload about {key!r}{older}")

    def archive(self) -> Archive:
        """Return what saves and reads them, for those who need the store itself."""
        return self._core.archive

    async def audit(self, *, repair: bool = False) -> builtins.list[Fault]:
        """Look for payloads without content, and for content that no payload names. Asks the store for every payload.

        Args:
            repair: delete both. Content is left alone for a day after it was written.
        """
        return await audit_payloads(self._core.archive, repair=repair)

    async def repair(self, fault: Fault) -> Fault:
        """Repair one thing that an audit of the payloads found, if it still is as it was. Returns it with what became of it."""
        return await repair_payload_fault(self._core.archive, fault)
