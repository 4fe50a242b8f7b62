"""What a payload store is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Protocol

import msgspec

CHUNK = 1 << 20


class FoundFile(msgspec.Struct, frozen=True):
    """A file of a store: its path in it, and when it was written."""

    location: str
    written_at: datetime


class BlobStore(Protocol):
    """Keeps files under paths as `2026/11/23/store_7_….json.gz`. All calls block; `in_thread` runs them.

    Every call raises StoreUnavailable where the disk or the network fails.
    """

    @property
    def name(self) -> str:
        """For people: where it is, without secrets."""
        ...

    @property
    def staging_folder(self) -> Path:
        """A local folder where a file is made before it is published."""
        ...

    def publish(self, staged: Path, location: str) -> None:
        """Put a finished local file at its place, whole or not at all; when this returns, it survives a crash."""
        ...

    def read(self, location: str, start: int = 0) -> Iterator[bytes]:
        """The bytes from `start` on, in pieces. Raises PayloadMissing at the first piece."""
        ...

    def size(self, location: str) -> int | None:
        """The bytes of the file; None: there is none."""
        ...

    def delete(self, location: str) -> None:
        """Delete the file, if it is there."""
        ...

    def files(self) -> Iterator[FoundFile]:
        """All files, in no order."""
        ...
