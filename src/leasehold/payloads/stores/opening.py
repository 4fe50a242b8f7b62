"""From what a setting says to a store."""

from __future__ import annotations

import re
from pathlib import Path

from leasehold.errors import SettingsError
from leasehold.payloads.stores.blob_store import BlobStore
from leasehold.payloads.stores.folder import FolderStore


def open_store(where: str) -> BlobStore:
    """The store that `where` names: a folder, or the address of an object store as `s3://bucket/prefix`.

    Nothing is asked of it yet.

    Raises:
        SettingsError: it is no address, or the extra `blobs` is not installed.
    """
    if not re.match(r"^[a-z0-9+]{2,}:", where, re.IGNORECASE):
        return FolderStore(Path(where).expanduser())
    try:
        from leasehold.payloads.stores.bucket import open_bucket  # noqa: PLC0415  an extra
    except ModuleNotFoundError as error:
        if error.name != "obstore":
            raise
        raise SettingsError(f"the payload store {where} needs the extra: pip install 'leasehold[blobs]'") from error
    return open_bucket(where)
