"""A payload while it is written: a local file that nobody else sees."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from leasehold.errors import PayloadTooLarge, StoreUnavailable
from leasehold.payloads.stores.blob_store import BlobStore

GZIP = 31
LEVEL = 4


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
