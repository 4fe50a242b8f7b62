"""What the settings say of payloads: in which store they lie, and what goes there by itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

import msgspec

from leasehold.errors import SettingsError
from leasehold.payloads.archive import MOST_BYTES, Archive
from leasehold.payloads.claim_checks import Locker
from leasehold.payloads.stores import BlobStore, FolderStore

CLAIM_ABOVE = 262_144


def open_store(where: str) -> BlobStore:
    """The store that `where` names: a folder, or the address of an object store as `s3://bucket/prefix`.

    Nothing is asked of it yet.

    Raises:
        SettingsError: it is no address, or the extra `blobs` is not installed.
    """
    if not re.match(r"^[a-z0-9+]{2,}:", where, re.IGNORECASE):
        return FolderStore(Path(where).expanduser())
    try:
        from leasehold.payloads.bucket import open_bucket  # noqa: PLC0415  an extra
    except ModuleNotFoundError as error:
        if error.name != "obstore":
            raise
        raise SettingsError(f"the payload store {where} needs the extra: pip install 'leasehold[blobs]'") from error
    return open_bucket(where)


class PayloadSettings(Protocol):
    """The settings that concern payloads."""

    @property
    def payloads_store(self) -> str | None:
        """A folder, or the address of an object store."""
        ...

    @property
    def payloads_limit_bytes(self) -> int:
        """What a payload may have at the most."""
        ...

    @property
    def payloads_claim_bytes(self) -> int:
        """What args and outputs may have in the rows of their jobs, where there is a store."""
        ...


class PayloadOptions(msgspec.Struct, frozen=True, eq=False):
    """Where payloads lie, and what goes there by itself.

    Attributes:
        store: None: nobody said.
        limit: bytes that one may have.
        claim_above: args and outputs of more bytes of JSON go there by themselves.
        most_loaded: see `Locker`.
    """

    store: BlobStore | None = None
    limit: int = MOST_BYTES
    claim_above: int | None = CLAIM_ABOVE
    most_loaded: int | None = None

    def locker(self, archive: Archive) -> Locker:
        """For large args and outputs."""
        return Locker(archive, self.claim_above, self.most_loaded)


def payload_options(settings: PayloadSettings, *, most_loaded: int | None = None) -> PayloadOptions:
    """From the settings of a process. Raises SettingsError where the store is none."""
    where = settings.payloads_store
    store = None if where is None else open_store(where)
    return PayloadOptions(store, settings.payloads_limit_bytes, settings.payloads_claim_bytes, most_loaded)
