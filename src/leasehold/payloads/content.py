"""The content of a payload: what may be saved, how it is written, and how it is read.

It is taken as pieces of bytes, compressed into a local file that nobody else sees, and unpacked again: what comes out is what was
saved, or an error says that it is not.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import zlib
from collections.abc import AsyncIterable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

import msgspec

from leasehold.errors import BadInput, PayloadDamaged, PayloadTooLarge, StoreUnavailable
from leasehold.payloads.stores import CHUNK, BlobStore
from leasehold.records.payloads import PayloadRecord

JSON = "application/json"
OCTETS = "application/octet-stream"
ODD_NUMBER = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]", re.DOTALL)
"""How NaN and the infinities begin in MessagePack: a double whose exponent is all ones."""

GZIP = 31
LEVEL = 4


class Content(msgspec.Struct, frozen=True):
    """The pieces of a payload, its bytes where they are known beforehand, and its media type."""

    pieces: Iterable[bytes] | AsyncIterable[bytes]
    size: int | None
    media_type: str


def content_of(given: Any, media_type: str | None = None) -> Content:
    """The content of what was given to be saved.

    Args:
        given: bytes, a path, a binary file, or an iterator of bytes (also an asynchronous one): saved as they are. Anything
            else: saved as JSON.
        media_type: of bytes; JSON is application/json in any case.

    Raises:
        BadInput: JSON cannot hold it, as NaN and infinity, or the file cannot be read.
    """
    octets = media_type or OCTETS
    if isinstance(given, (bytes, bytearray, memoryview)):
        view = memoryview(cast("bytes", given)).cast("B")
        return Content(_cut(view), len(view), octets)
    if isinstance(given, Path):
        try:
            return Content(_read_path(given), given.stat().st_size, octets)
        except OSError as error:
            raise BadInput(f"{given} cannot be saved as a payload: {error}") from error
    if callable(getattr(given, "read", None)):
        return Content(_read(given), None, octets)
    if isinstance(given, AsyncIterable):
        return Content(cast("AsyncIterable[bytes]", given), None, octets)
    if isinstance(given, Iterator):
        return Content(cast("Iterator[bytes]", given), None, octets)
    return _json(given)


def _json(value: object) -> Content:
    try:
        encoded = msgspec.json.encode(value)
        if b"null" in encoded and _may_have_odd_numbers(value):
            _refuse_odd_numbers(msgspec.to_builtins(value, str_keys=True), "$")
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise BadInput(f"the payload is neither bytes nor JSON: {error}") from error
    return Content(_cut(memoryview(encoded)), len(encoded), JSON)


def _may_have_odd_numbers(value: object) -> bool:
    """Whether NaN or infinity may be in it, which msgspec writes as null. MessagePack keeps them, at the speed of JSON; some bytes
    look like one."""
    try:
        return ODD_NUMBER.search(msgspec.msgpack.encode(value)) is not None
    except (TypeError, ValueError, OverflowError):
        return True


def _refuse_odd_numbers(value: object, place: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise BadInput(f"the payload has {value} at {place}, which is no JSON number; give None or text in its place")
    if isinstance(value, dict):
        for name, each in cast("dict[str, object]", value).items():
            _refuse_odd_numbers(each, f"{place}.{name}")
    elif isinstance(value, (list, tuple)):
        for index, each in enumerate(cast("list[object]", value)):
            _refuse_odd_numbers(each, f"{place}[{index}]")


def _cut(view: memoryview) -> Iterator[bytes]:
    return (bytes(view[at : at + CHUNK]) for at in range(0, len(view), CHUNK))


def _read(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(CHUNK):
        yield piece


def _read_path(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from _read(file)
    except OSError as error:
        raise BadInput(f"{path} cannot be saved as a payload: {error}") from error


class StagedFile(msgspec.Struct, frozen=True):
    """A finished local file, which is on the disk: its path, the bytes and the hash of the content, its own bytes."""

    path: Path
    size: int
    compressed_size: int
    sha256: bytes


class Staging:
    """Compresses what is written, counts and hashes it, and refuses what is too much. Call `discard` in any case.

    Args:
        store: for which the file is made.
        codec: gzip or none.
        limit: bytes of content.
    """

    def __init__(self, store: BlobStore, codec: str, limit: int) -> None:
        self._store = store
        self._limit = limit
        self._size = 0
        self._hash = hashlib.sha256()
        self._packer = zlib.compressobj(LEVEL, zlib.DEFLATED, GZIP) if codec == "gzip" else None
        try:
            import tempfile  # noqa: PLC0415  it loads lzma and others, and few stage content

            descriptor, name = tempfile.mkstemp(prefix="leasehold-", suffix=".tmp", dir=store.staging_folder)
        except OSError as error:
            raise StoreUnavailable(f"the payload store {store.name} cannot be written: {error}") from error
        self._file = os.fdopen(descriptor, "wb")
        self._path = Path(name)

    def write(self, piece: bytes) -> None:
        """Add a piece. Raises PayloadTooLarge, StoreUnavailable."""
        self._size += len(piece)
        refuse_too_large(self._size, self._limit)
        self._hash.update(piece)
        self._put(piece if self._packer is None else self._packer.compress(piece))

    def write_all(self, pieces: Iterable[bytes]) -> StagedFile:
        """Add these and finish."""
        for piece in pieces:
            self.write(piece)
        return self.finish()

    def finish(self) -> StagedFile:
        """Write the rest to the disk."""
        try:
            if self._packer is not None:
                self._put(self._packer.flush())
            self._file.flush()
            os.fsync(self._file.fileno())
            stored = self._file.tell()
            self._file.close()
        except OSError as error:
            raise self._trouble(error) from error
        return StagedFile(self._path, self._size, stored, self._hash.digest())

    def discard(self) -> None:
        """Remove the local file, if it was not published."""
        with suppress(OSError):  # what could not be written is not wanted any more
            self._file.close()
        self._path.unlink(missing_ok=True)

    def _put(self, piece: bytes) -> None:
        try:
            self._file.write(piece)
        except OSError as error:
            raise self._trouble(error) from error

    def _trouble(self, error: OSError) -> StoreUnavailable:
        return StoreUnavailable(
            f"the payload store {self._store.name} cannot be written: {error}; nothing is left of it"
        )


def refuse_too_large(size: int, limit: int) -> None:
    """Raises PayloadTooLarge."""
    if size > limit:
        raise PayloadTooLarge(f"the payload has {size:,} bytes or more, and {limit:,} are the most; save it in parts")


class Verifier:
    """Unpacks the stored bytes of a payload, and compares length and hash at the end."""

    def __init__(self, payload: PayloadRecord) -> None:
        self._payload = payload
        self._hash = hashlib.sha256()
        self._size = 0
        self._unpacker = zlib.decompressobj(GZIP) if payload.codec == "gzip" else None

    def unpack(self, stored: bytes) -> Iterator[bytes]:
        """The content of these stored bytes, in pieces of limited size. Raises PayloadDamaged."""
        if self._unpacker is None:
            yield self._seen(stored)
            return
        try:
            while stored:
                if self._unpacker.eof:
                    raise self._damage("it goes on behind its end")
                yield self._seen(self._unpacker.decompress(stored, CHUNK))
                stored = self._unpacker.unconsumed_tail or self._unpacker.unused_data
        except zlib.error as error:
            raise self._damage(f"its gzip is broken: {error}") from error

    def finish(self) -> None:
        """All stored bytes have been given. Raises PayloadDamaged."""
        if self._unpacker is not None and not self._unpacker.eof:
            raise self._damage(f"its gzip is cut short after {self._size:,} of {self._payload.size:,} bytes of content")
        if self._size != self._payload.size:
            raise self._damage(f"it has {self._size:,} bytes of content, and {self._payload.size:,} were saved")
        if self._hash.hexdigest() != self._payload.sha256:
            raise self._damage("its checksum (SHA-256) is another one")

    def _seen(self, piece: bytes) -> bytes:
        self._size += len(piece)
        if self._size > self._payload.size:
            raise self._damage(f"it has more than the {self._payload.size:,} bytes of content that were saved")
        self._hash.update(piece)
        return piece

    def _damage(self, what: str) -> PayloadDamaged:
        message = f"payload {self._payload.id} ({self._payload.location}) is not what was saved: {what}"
        return PayloadDamaged(f"{message}; save it anew, or delete it")


def read_content(store: BlobStore, payload: PayloadRecord) -> Iterator[bytes]:
    """The content, unpacked. The last piece comes only when everything was found to be right.

    Raises:
        PayloadMissing, PayloadDamaged, StoreUnavailable.
    """
    verifier = Verifier(payload)
    return _held_back((piece for stored in store.read(payload.location) for piece in verifier.unpack(stored)), verifier)


def read_stored(store: BlobStore, payload: PayloadRecord) -> Iterator[bytes]:
    """The bytes as they are stored, gzip or not; checked as `read_content` does, and raising the same."""
    verifier = Verifier(payload)
    return _held_back(_watched(store.read(payload.location), verifier), verifier)


def _watched(stored: Iterator[bytes], verifier: Verifier) -> Iterator[bytes]:
    for piece in stored:
        for _ in verifier.unpack(piece):
            pass
        yield piece


def _held_back(pieces: Iterator[bytes], verifier: Verifier) -> Iterator[bytes]:
    """The pieces, each when the next one is there, and the last one when the verifier has agreed."""
    last = b""
    for piece in pieces:
        if last:
            yield last
        last = piece
    verifier.finish()
    if last:
        yield last
