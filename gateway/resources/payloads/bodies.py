"""Parameters of `/api/payloads…`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from leasehold.gateway.http.fields import LARGEST_BIGINT
from leasehold.gateway.http.pages import Cursor, Limit
from leasehold.payloads.comparing import MOST_LISTED

PayloadId = Annotated[int, Meta(ge=1, le=LARGEST_BIGINT)]
Key = Annotated[str, Meta(min_length=1, max_length=1024, description="What the payloads are about: a shop.")]
KindName = Annotated[str, Meta(min_length=1, max_length=255, description="Only payloads of this kind.")]
FieldName = Annotated[str, Meta(min_length=1, max_length=200)]


class PayloadsParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which payloads."""

    key: Key | None = None
    kind: KindName | None = None
    job_id: Annotated[PayloadId, Meta(description="Only those that this job saved.")] | None = None
    cursor: Cursor | None = None
    limit: Limit = 50


class PayloadParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which payload."""

    id: PayloadId


class StoreParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Payloads about which key."""

    key: Key
    kind: KindName | None = None
    cursor: Cursor | None = None
    limit: Limit = 50


class LatestParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The newest payload about which key."""

    key: Key
    kind: KindName | None = None


class DiffParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"before": "from", "after": "to"}):
    """Which two payloads about a key, and what of their records is compared."""

    key: Key
    before: (
        Annotated[PayloadId, Meta(description="The older payload; the one before `to` if it is not given.")] | None
    ) = None
    after: Annotated[PayloadId, Meta(description="The newer payload; the newest if it is not given.")] | None = None
    kind: KindName | None = None
    record_key: Annotated[FieldName, Meta(description="The field that identifies a record.")] = "id"
    fields: Annotated[
        list[FieldName], Meta(min_length=1, max_length=20, description="The fields that are compared.")
    ] = msgspec.field(default_factory=lambda: ["price", "stock"])
    records: (
        Annotated[
            str, Meta(min_length=1, max_length=500, description="Where the list of records is, as `data.products`.")
        ]
        | None
    ) = None
    limit: Annotated[int, Meta(ge=0, le=MOST_LISTED, description="How many of each are listed; all are counted.")] = (
        1000
    )
