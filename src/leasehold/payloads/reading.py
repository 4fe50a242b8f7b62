"""Reading a payload: what comes out is what was saved, or an error says that it is not."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator

from leasehold.errors import PayloadDamaged
from leasehold.payloads.staging import GZIP
from leasehold.payloads.stores.blob_store import CHUNK, BlobStore
from leasehold.records.payloads import PayloadRecord


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
        told = f"payload {self._payload.id} ({self._payload.location}) is not what was saved: {what}"
        return PayloadDamaged(f"{told}; save it anew, or delete it")


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
