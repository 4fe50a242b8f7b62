"""Saving payloads, reading and deleting them: the content in the store, the row in the database."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterator, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import msgspec

from leasehold.concurrency.flavours import each_in_thread, in_thread
from leasehold.database import Caller
from leasehold.database.calls import decode_json
from leasehold.errors import BadInput, Conflict, LeaseLost, NoPayloadStore, QueryRefused, UnknownPayload
from leasehold.payloads.content import Content, StagedFile, Staging, content_of, read_content, refuse_too_large
from leasehold.payloads.stores import BlobStore
from leasehold.records.payloads import PayloadRecord

if TYPE_CHECKING:
    from leasehold.database import Row

MOST_OF_KEY = 100
EXTENSIONS = {"application/json": ".json", "application/x-ndjson": ".ndjson", "text/plain": ".txt", "text/csv": ".csv"}

T = TypeVar("T")
MOST_BYTES = 2 << 30
CERTAIN = (BadInput, LeaseLost, Conflict, QueryRefused)
"""Errors after which the row is certainly not there. After others it may be."""
Fence = tuple[int, int, str]
"""Job, attempt and incarnation of the attempt that saves."""

OLD_AT_ONCE = 200
ESCAPED = re.compile(rb"\\(\\|[0-7]{3})")


class Published(msgspec.Struct, frozen=True):
    """Content that lies in the store, in the order in which `add_payload` takes it; `metadata` is JSON."""

    id: int
    created_at: datetime
    kind: str
    key: str | None
    size: int
    compressed_size: int
    sha256: bytes
    codec: str
    media_type: str
    location: str
    metadata: str | None


class Archive:
    """The payloads of one database and one store.

    Args:
        caller: makes the calls.
        store: has the content; None: nobody said where payloads lie, and everything that needs content is refused.
        limit: bytes that a payload may have.
        fence: tells the attempt that saves; None: no job does.
    """

    def __init__(
        self,
        caller: Caller,
        store: BlobStore | None,
        limit: int = MOST_BYTES,
        fence: Callable[[], Fence] | None = None,
    ) -> None:
        self.caller = caller
        self.limit = limit
        self._store = store
        self._fence = fence

    @property
    def has_store(self) -> bool:
        """Whether somebody said where payloads lie."""
        return self._store is not None

    @property
    def store(self) -> BlobStore:
        """Where content lies. Raises NoPayloadStore."""
        if self._store is None:
            raise NoPayloadStore
        return self._store

    async def save(
        self,
        content: Any,
        *,
        kind: str,
        key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        media_type: str | None = None,
        codec: str = "gzip",
        caller: Caller | None = None,
    ) -> PayloadRecord:
        """Write the content to the store, then its row. See `Payloads.save` of the client."""
        over = caller or self.caller
        published = await self.publish(
            content, kind=kind, key=key, metadata=metadata, media_type=media_type, codec=codec, caller=over
        )
        return await self.record(published, over)

    async def publish(
        self,
        content: Any,
        *,
        kind: str,
        key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        media_type: str | None = None,
        codec: str = "gzip",
        caller: Caller | None = None,
    ) -> Published:
        """Write the content to the store, under a name of its own. Until `record`, no row names it."""
        if codec not in ("gzip", "none"):
            raise BadInput(f"codec must be gzip or none, not {codec!r}")
        taken = content_of(content, media_type)
        encoded = _encoded(metadata)
        refuse_too_large(taken.size or 0, self.limit)
        staging = await in_thread(Staging, self.store, codec, self.limit)
        try:
            staged = await _written(staging, taken)
            [named] = await (caller or self.caller).call("name_payload")
            payload_id, created_at = named["payload_id"], named["created_at"]
            location = location_of(payload_id, created_at, key, taken.media_type, codec)
            await in_thread(self.store.publish, staged.path, location)
        finally:
            staging.discard()
        return Published(
            id=payload_id,
            created_at=created_at,
            kind=kind,
            key=key,
            size=staged.size,
            compressed_size=staged.compressed_size,
            sha256=staged.sha256,
            codec=codec,
            media_type=taken.media_type,
            location=location,
            metadata=encoded,
        )

    async def record(
        self, published: Published, caller: Caller | None = None, *, job_id: int | None = None, is_claim: bool = False
    ) -> PayloadRecord:
        """Make the row of what was published.

        Args:
            caller: a transaction, in which the row is made.
            job_id: whose it is; None: of the job that saves.
            is_claim: it is the args or the output of that job.
        """
        saver, attempt, incarnation = (None, None, None) if self._fence is None else self._fence()
        named, facts = msgspec.structs.astuple(published)[:4], msgspec.structs.astuple(published)[4:]
        try:
            [row] = await (caller or self.caller).call(
                "add_payload", *named, saver if job_id is None else job_id, *facts,
                attempt=attempt, incarnation=incarnation, is_claim=is_claim,
            )  # fmt: skip
        except CERTAIN:
            await in_thread(self.store.delete, published.location)
            raise
        return record_of(row)

    async def get(self, payload_id: int) -> PayloadRecord:
        """What is known of a payload. Raises UnknownPayload."""
        rows = await self.caller.call("get_payload", payload_id)
        if not rows:
            raise UnknownPayload(f"there is no payload {payload_id}")
        return record_of(rows[0])

    async def stream(self, payload: int | PayloadRecord) -> AsyncGenerator[bytes]:
        """The content in pieces. An error instead of the last piece says that it is damaged."""
        found = await self._record(payload)
        async with aclosing(each_in_thread(read_content(self.store, found))) as pieces:
            async for piece in pieces:
                yield piece

    async def read(self, payload: int | PayloadRecord) -> bytes:
        """The whole content, checked."""
        found, store = await self._record(payload), self.store
        return await in_thread(lambda: b"".join(read_content(store, found)))

    @overload
    async def load(self, payload: int | PayloadRecord) -> Any: ...
    @overload
    async def load(self, payload: int | PayloadRecord, value_type: type[T]) -> T: ...
    async def load(self, payload: int | PayloadRecord, value_type: Any = Any) -> Any:
        """The JSON value that was saved, checked, as this type. Raises BadInput where it is no JSON of this type."""
        found = await self._record(payload)
        content = await self.read(found)
        try:
            return await in_thread(lambda: msgspec.json.decode(content, type=value_type))
        except (msgspec.DecodeError, RecursionError) as error:
            what = "is no JSON" if value_type is Any else f"does not fit {getattr(value_type, '__name__', value_type)}"
            raise BadInput(f"payload {found.id} ({found.media_type}) {what}: {error}") from error

    async def delete(self, payload_ids: list[int]) -> int:
        """Hide the rows, delete the content, then the rows; returns how many. Whoever dies in between is followed by retention."""
        rows = await self.caller.call("expire_payloads", payload_ids)
        return await self.sweep([(row["payload_id"], row["location"]) for row in rows])

    async def sweep(self, expired: list[tuple[int, str]]) -> int:
        """Delete the content of hidden payloads, then their rows; returns how many."""
        if not expired:
            return 0
        store = self.store
        await in_thread(lambda: [store.delete(location) for _, location in expired])
        return cast("int", await self.caller.call_value("delete_payloads", [each for each, _ in expired]))

    async def _record(self, payload: int | PayloadRecord) -> PayloadRecord:
        return payload if isinstance(payload, PayloadRecord) else await self.get(payload)


def record_of(row: Row) -> PayloadRecord:
    """A record from a row of `payloads`."""
    values: dict[str, Any] = {name: row[name] for name in PayloadRecord.__struct_fields__}
    values["sha256"] = _bytes_of(row["sha256"]).hex()
    if row["metadata"] is not None:
        values["metadata"] = decode_json(row["metadata"])
    return PayloadRecord(**values)


def _bytes_of(value: bytes | str) -> bytes:
    """In a document they are the text that Postgres writes for bytes, in either of its two forms (`bytea_output`)."""
    if isinstance(value, bytes):
        return value
    if value.startswith("\\x"):
        return bytes.fromhex(value[2:])
    return ESCAPED.sub(lambda found: bytes([int(found[1], 8)]) if len(found[1]) == 3 else b"\\", value.encode())


async def _written(staging: Staging, content: Content) -> StagedFile:
    pieces = content.pieces
    if not isinstance(pieces, AsyncIterable):
        return await in_thread(staging.write_all, cast("Iterator[bytes]", pieces))
    try:
        async for piece in pieces:
            await in_thread(staging.write, bytes(piece))
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()
    return await in_thread(staging.finish)


def _encoded(metadata: Mapping[str, Any] | None) -> str | None:
    try:
        return None if metadata is None else msgspec.json.encode(metadata).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"the metadata of a payload must be JSON: {error}") from error


async def delete_old_payloads(archive: Archive, keep_days: int, keep_jobs_days: int | None = None) -> int:
    """Delete one batch of payloads that are older, and those whose deletion somebody did not finish; returns how many.

    Args and outputs of jobs go with their jobs, which are kept for `keep_jobs_days`.
    Whoever dies in between leaves hidden rows, which the next call takes up again. Call it until it returns 0.

    Raises:
        StoreUnavailable: the content cannot be deleted; its rows stay hidden until it can.
    """
    rows = await archive.caller.call("expire_old_payloads", keep_days, OLD_AT_ONCE, keep_jobs_days)
    return await archive.sweep([(row["payload_id"], row["location"]) for row in rows])


def location_of(payload_id: int, created_at: datetime, key: str | None, media_type: str, codec: str) -> str:
    """The path of a payload. No two payloads have the same one: the number of the payload belongs to its time.

    Args:
        payload_id, created_at: as the database gave them.
        key: what it is about; without one the file is called `payload_…`. What a file name cannot have becomes `-`.
        media_type, codec: they decide the extension.
    """
    at = created_at.astimezone(UTC)
    about = "payload" if key is None else f"store_{_harmless(key)}"
    ending = EXTENSIONS.get(media_type, ".bin") + (".gz" if codec == "gzip" else "")
    return f"{at:%Y/%m/%d}/{about}_{at:%Y%m%dT%H%M%SZ}-{payload_id}{ending}"


def _harmless(key: str) -> str:
    return re.sub(r"[^A-Za-z0-9._=+@-]", "-", key)[:MOST_OF_KEY]
