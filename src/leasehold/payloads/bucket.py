"""Payloads in an object store: S3 and what speaks its language, GCS, Azure, a local folder, memory. Needs the extra `blobs`."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import obstore
from obstore import exceptions
from obstore.store import from_url

from leasehold.errors import PayloadMissing, SettingsError, StoreUnavailable
from leasehold.payloads.stores import CHUNK, FoundFile

PART_BYTES = 8 * CHUNK
PARTS_AT_ONCE = 3
PATIENCE = timedelta(seconds=30)


def open_bucket(url: str) -> BucketStore:
    """The object store of this address, with the credentials of the environment (AWS_…, GOOGLE_…, AZURE_…).

    Raises SettingsError where the address or the credentials are none.
    """
    retry: Any = {"max_retries": 4, "retry_timeout": PATIENCE}
    try:
        if url.split(":", 1)[0] in ("memory", "file"):
            return BucketStore(from_url(url), url)
        return BucketStore(
            from_url(url, client_options={"timeout": PATIENCE, "allow_http": True}, retry_config=retry), url
        )
    except (exceptions.BaseError, ValueError) as error:
        raise SettingsError(f"payloads_store = {url!r} is no address of an object store: {error}") from error


class BucketStore:
    """Objects in a bucket. A file becomes an object when its upload is complete; there is no half of one."""

    def __init__(self, store: Any, name: str) -> None:
        self._store = store
        self._name = name

    @property
    def name(self) -> str:
        """Its address."""
        return self._name

    @property
    def staging_folder(self) -> Path:
        """The folder of this machine for temporary files (TMPDIR)."""
        return Path(tempfile.gettempdir())

    def publish(self, staged: Path, location: str) -> None:
        """Upload the file, in parts where it is large."""
        with self._trouble(location):
            obstore.put(self._store, location, staged, chunk_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE)

    def read(self, location: str, start: int = 0) -> Iterator[bytes]:
        """The bytes from `start` on. Raises PayloadMissing.

        Each part is a request of its own: one for all would run into its time limit where the reader is slow.
        """
        with self._trouble(location):
            size = obstore.get(self._store, location).meta["size"]
        for at in range(start, size, PART_BYTES):
            with self._trouble(location):
                part = obstore.get_range(self._store, location, start=at, end=min(at + PART_BYTES, size)).to_bytes()
            yield from (part[cut : cut + CHUNK] for cut in range(0, len(part), CHUNK))

    def size(self, location: str) -> int | None:
        """The bytes of the object; None: there is none."""
        try:
            with self._trouble(location):
                return obstore.head(self._store, location)["size"]
        except PayloadMissing:
            return None

    def delete(self, location: str) -> None:
        """Delete the object, if it is there."""
        try:
            with self._trouble(location):
                obstore.delete(self._store, location)
        except PayloadMissing:
            return

    def files(self) -> Iterator[FoundFile]:
        """All objects."""
        with self._trouble("its list"):
            pages: Iterator[Any] = obstore.list(self._store)  # pyright: ignore[reportUnknownMemberType]  of Arrow
            for page in pages:
                yield from (FoundFile(each["path"], each["last_modified"]) for each in page)

    @contextmanager
    def _trouble(self, location: str) -> Generator[None]:
        try:
            yield
        except (exceptions.BaseError, OSError) as error:
            if "NoSuchBucket" in str(error):
                raise StoreUnavailable(f"the payload store {self.name} is gone: the bucket does not exist") from error
            if isinstance(error, FileNotFoundError):
                raise PayloadMissing(
                    f"{location} is not in the payload store {self.name}", location=location
                ) from error
            raise StoreUnavailable(f"the payload store {self.name} cannot be used: {error!s:.500}") from error
