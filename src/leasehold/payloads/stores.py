"""What a payload store is, and the one that is a folder, which all processes share: a disk, or a volume mounted everywhere."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path
from typing import Protocol

import msgspec

from leasehold.errors import BadInput, PayloadMissing, StoreUnavailable

CHUNK = 1 << 20

STAGING = ".staging"


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


class FolderStore:
    """Files in a folder. Each is written under another name, then renamed: a crash leaves no half of one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()

    @property
    def name(self) -> str:
        """The folder."""
        return str(self._folder)

    @property
    def staging_folder(self) -> Path:
        """On the same file system, as renaming needs it."""
        folder = self._folder / STAGING
        with self._trouble():
            folder.mkdir(parents=True, exist_ok=True)
        return folder

    def publish(self, staged: Path, location: str) -> None:
        """Rename the file, whose content is on the disk already, and write its folders to the disk."""
        target = self._path(location)
        with self._trouble():
            for folder in self._make_folders(target.parent):
                _sync(folder)
            os.rename(staged, target)
            _sync(target.parent)

    def read(self, location: str, start: int = 0) -> Iterator[bytes]:
        """The bytes from `start` on. Raises PayloadMissing."""
        with self._trouble(), self._open(location) as file:
            file.seek(start)
            while piece := file.read(CHUNK):
                yield piece

    def size(self, location: str) -> int | None:
        """The bytes of the file; None: there is none."""
        with self._trouble():
            try:
                return self._path(location).stat().st_size
            except (FileNotFoundError, NotADirectoryError):
                return None

    def delete(self, location: str) -> None:
        """Delete the file, if it is there, and the folders that it leaves empty."""
        path = self._path(location)
        with self._trouble():
            path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == self._folder:
                break
            with suppress(OSError):  # not empty
                folder.rmdir()

    def files(self) -> Iterator[FoundFile]:
        """All files, those of staging too: who died has left them there."""
        with self._trouble():
            for folder, _, names in os.walk(self._folder):
                for name in names:
                    path = Path(folder, name)
                    with suppress(FileNotFoundError):
                        written_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
                        yield FoundFile(path.relative_to(self._folder).as_posix(), written_at)

    def _path(self, location: str) -> Path:
        path = self._folder / location
        if Path(location).is_absolute() or ".." in Path(location).parts:
            raise BadInput(f"{location!r} is no place inside of the payload store")
        return path

    def _open(self, location: str) -> BufferedReader:
        try:
            return self._path(location).open("rb")
        except (FileNotFoundError, NotADirectoryError):
            raise PayloadMissing(f"{location} is not in the payload store {self.name}", location=location) from None

    def _make_folders(self, folder: Path) -> list[Path]:
        """Make it with those above it; returns those in which an entry is new."""
        missing: list[Path] = []
        while not folder.is_dir():
            missing.append(folder)
            folder = folder.parent
        for each in reversed(missing):
            each.mkdir(exist_ok=True)
        return [each.parent for each in missing]

    @contextmanager
    def _trouble(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise StoreUnavailable(f"the payload store {self.name} cannot be used: {error}") from error


def _sync(folder: Path) -> None:
    """Write the entries of a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
