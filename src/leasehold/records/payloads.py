"""Payloads, as they are listed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec


class PayloadRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a payload. Its content lies in the store.

    Attributes:
        id: of the payload.
        created_at: when it began to be saved, by the clock of the database.
        kind: what sort of payload it is; the kind of the job that saved it, unless that job said otherwise.
        key: what it is about; None: nothing in particular.
        job_id: the job that saved it; None: no job did.
        size: bytes of the content. compressed_size: bytes that it takes in the store.
        sha256: of the content, before it was compressed, in hexadecimal.
        codec: gzip or none.
        media_type: of the content, as application/json.
        location: its path in the store.
        metadata: what the saver counted or noted; a JSON object or None.
    """

    id: int
    created_at: datetime
    kind: str
    key: str | None
    job_id: int | None
    size: int
    compressed_size: int
    sha256: str
    codec: str
    media_type: str
    location: str
    metadata: Any


class PayloadSide(msgspec.Struct, frozen=True, rename="camel"):
    """One of two payloads that were compared: when it was saved, and how many records it has."""

    id: int
    fetched_at: datetime
    product_count: int


class PayloadDiff(msgspec.Struct, frozen=True, kw_only=True, rename={"before": "from", "after": "to"}):
    """What has changed from one payload to another.

    Attributes:
        success: True; clients of other systems look for it.
        before, after: the payloads; `from` and `to` in JSON.
        diff: how many records were `added` and `removed`, and of how many each field has changed (`priceChanges`).
        details: those records, as many as were asked for.
    """

    success: bool
    before: PayloadSide
    after: PayloadSide
    diff: dict[str, int]
    details: dict[str, list[Any]]
