"""Puts large args and outputs into the payload store, and gets them back: the claim check of docs/decisions/0030."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from leasehold.concurrency.flavours import in_thread
from leasehold.database import Caller
from leasehold.errors import PayloadError, UnknownPayload
from leasehold.payloads.archive import Archive, Published
from leasehold.payloads.claims.check import ClaimCheck, find_check, summarize, write_check
from leasehold.payloads.contents import JSON

R = TypeVar("R", bound=msgspec.Struct)


class Deposit(msgspec.Struct, frozen=True):
    """A value whose content is in the store, and whose payload has no row yet. `check`: JSON for the row of its job."""

    published: Published
    check: str


class Locker:
    """Large values of jobs.

    Args:
        archive: of the payloads; one that has no store keeps nothing, and what it meets stays a claim check.
        above: values of more bytes of JSON go to the store; None: none does.
        most_loaded: for readers that only show values. Larger ones, and those that cannot be read, stay claim checks. None: all are
            read, and what cannot be read is an error.
    """

    def __init__(self, archive: Archive, above: int | None, most_loaded: int | None = None) -> None:
        self._archive = archive
        self._above = above if archive.has_store else None
        self._most_loaded = most_loaded

    def is_large(self, size: int) -> bool:
        """Whether JSON of so many bytes goes to the store."""
        return self._above is not None and size > self._above

    async def deposit(self, content: bytes, what: str, kind: str, caller: Caller | None = None) -> Deposit:
        """Write the content to the store. The row is made by `record`, together with what names it.

        Args:
            content: JSON.
            what: args or output.
            kind: of the job.
            caller: the transaction in which it is named.

        Raises:
            PayloadTooLarge, StoreUnavailable: nothing was written.
        """
        summary = await in_thread(summarize, content)
        # Last: whoever is cancelled before it leaves nothing behind, and after it there is a deposit.
        published = await self._archive.publish(content, kind=f"{what}:{kind}", media_type=JSON, caller=caller)
        check = ClaimCheck(published.id, published.size, published.sha256.hex(), summary)
        return Deposit(published, write_check(check).decode())

    async def record(self, deposit: Deposit, job_id: int | None, caller: Caller | None = None) -> None:
        """Make the row of the payload, which belongs to this job (None: to the one that the archive saves for)."""
        await self._archive.record(deposit.published, caller, job_id=job_id, is_claim=True)

    async def forget(self, deposit: Deposit) -> None:
        """Delete the content again: nothing names it."""
        await in_thread(self._archive.store.delete, deposit.published.location)

    async def fetch(self, check: ClaimCheck) -> bytes:
        """The value as JSON.

        Raises:
            NoPayloadStore: none is set here.
            UnknownPayload, PayloadMissing, PayloadDamaged, StoreUnavailable: it cannot be read.
        """
        payload = await self._archive.get(check.id)
        check.confirm(payload.sha256)
        return await self._archive.read(payload)

    async def value(self, value: Any) -> Any:
        """The value that this claim check stands for; any other value, and what this reader does not load, as it is."""
        check = find_check(value)
        if check is None or not self._archive.has_store:
            return value
        if self._most_loaded is None:
            return msgspec.json.decode(await self.fetch(check))
        try:
            return msgspec.json.decode(await self.fetch(check)) if check.size <= self._most_loaded else value
        except (PayloadError, UnknownPayload):
            return value

    async def filled(self, record: R) -> R:
        """The record with its `args` and `output`, as far as it has them."""
        found = {name: getattr(record, name) for name in ("args", "output") if hasattr(record, name)}
        checks = {name: value for name, value in found.items() if find_check(value) is not None}
        if not checks:
            return record
        return msgspec.structs.replace(record, **{name: await self.value(value) for name, value in checks.items()})
