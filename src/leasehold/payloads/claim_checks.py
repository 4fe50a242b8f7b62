"""Large args and outputs: the payload store has the value, the row of the job a claim check with a summary.

`ClaimCheck` is what stands in the row; `Locker` puts values away and fetches them; `filled` fetches them without awaiting, for
synchronous clients and Django. Why it is so: docs/decisions/0030.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import msgspec

from leasehold.concurrency.flavours import in_thread
from leasehold.database import Caller
from leasehold.errors import PayloadDamaged, PayloadError, UnknownPayload
from leasehold.payloads.archive import Archive, Published, record_of
from leasehold.payloads.content import JSON, read_content
from leasehold.payloads.stores import BlobStore

MARK = "$payload"
START = '{"$payload"'
"""How the JSON of a claim check begins, and hardly anything else: a look at it costs nothing."""
MOST_KEYS = 20
MOST_TEXT = 100

R = TypeVar("R", bound=msgspec.Struct)
Call = Callable[..., Sequence[Any]]
"""Calls `leasehold.<function>` with these values, and returns its rows."""


class ClaimCheck(msgspec.Struct, frozen=True):
    """Which payload has the value, and what people may want to know without it.

    Attributes:
        id: of the payload. sha256: of its content; who reads compares it, so nobody can point at a payload that he has not read.
        size: bytes of the value as JSON.
        summary: of the value: small parts of it as they are, and of large ones how many there are.
    """

    id: int
    size: int
    sha256: str
    summary: Any

    def confirm(self, sha256: str) -> None:
        """Raises PayloadDamaged if the payload with this checksum is not the one that the job names."""
        if sha256 != self.sha256:
            raise PayloadDamaged(f"payload {self.id} is not the one that the job names: its checksum is another one")


class _Document(msgspec.Struct, frozen=True, rename={"check": MARK}, forbid_unknown_fields=True):
    check: ClaimCheck


def write_check(check: ClaimCheck) -> bytes:
    """The JSON that stands in the row."""
    return msgspec.json.encode(_Document(check))


def find_check(value: object) -> ClaimCheck | None:
    """The claim check that this value is, as JSON text or decoded; None: it is a value of its own."""
    try:
        if isinstance(value, str):
            return msgspec.json.decode(value, type=_Document).check if value.startswith(START) else None
        if isinstance(value, dict) and len(cast("dict[str, Any]", value)) == 1 and MARK in value:
            return msgspec.convert(value, _Document).check
    except msgspec.MsgspecError:
        return None
    return None


def summarize(content: bytes) -> Any:
    """What a person needs to know of this JSON: {"shop": 7, "products": "list of 105"}."""
    value = msgspec.json.decode(content)
    if not isinstance(value, dict):
        return _shown(value)
    items = list(cast("dict[str, Any]", value).items())
    shown = {_cut_short(name): _shown(each) for name, each in items[:MOST_KEYS]}
    return shown if len(items) <= MOST_KEYS else shown | {"…": f"{len(items) - MOST_KEYS} more"}


def _shown(value: Any) -> Any:
    match value:
        case list():
            return f"list of {len(cast('list[Any]', value))}"
        case dict():
            return f"object of {len(cast('dict[str, Any]', value))}"
        case str():
            return _cut_short(value)
        case _:
            return value


def _cut_short(text: str) -> str:
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + "…"


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


def filled(record: R, store: BlobStore, call: Call) -> R:
    """The record with its `args` and `output`, as far as it has them, in the place of claim checks.

    Raises:
        UnknownPayload, PayloadMissing, PayloadDamaged, StoreUnavailable: one cannot be read.
    """
    found = {name: find_check(getattr(record, name, None)) for name in ("args", "output")}
    values = {name: _value(check, store, call) for name, check in found.items() if check is not None}
    return msgspec.structs.replace(record, **values) if values else record


def _value(check: ClaimCheck, store: BlobStore, call: Call) -> Any:
    rows = call("get_payload", check.id)
    if not rows:
        raise UnknownPayload(f"there is no payload {check.id}")
    payload = record_of(rows[0])
    check.confirm(payload.sha256)
    return msgspec.json.decode(b"".join(read_content(store, payload)))
