"""Reading large args and outputs without awaiting: for synchronous clients and Django."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from leasehold.errors import UnknownPayload
from leasehold.payloads.archive import record_of
from leasehold.payloads.claims.check import ClaimCheck, find_check
from leasehold.payloads.reading import read_content
from leasehold.payloads.stores.blob_store import BlobStore

R = TypeVar("R", bound=msgspec.Struct)

Call = Callable[..., Sequence[Any]]
"""Calls `leasehold.<function>` with these values, and returns its rows."""


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
