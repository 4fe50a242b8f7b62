"""`/api/payloads…`."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from leasehold.errors import UnknownPayload
from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import ById, Cursor, Id, Limit, Page, cursor_at, place_of
from leasehold.gateway.http.problems import (
    NO_PAYLOAD_STORE,
    PAYLOAD_DAMAGED,
    PAYLOAD_MISSING,
    STORE_UNAVAILABLE,
    TOO_MANY_DIFFS,
    UNKNOWN_PAYLOAD,
)
from leasehold.gateway.routing.routes import Call, Routes
from leasehold.payloads.diff import MOST_LISTED
from leasehold.records.payloads import PayloadDiff, PayloadRecord

Key = Annotated[str, Meta(min_length=1, max_length=1024, description="What the payloads are about: a shop.")]
KindName = Annotated[str, Meta(min_length=1, max_length=255, description="Only payloads of this kind.")]
FieldName = Annotated[str, Meta(min_length=1, max_length=200)]


class PayloadsParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which payloads."""

    key: Key | None = None
    kind: KindName | None = None
    job_id: Annotated[Id, Meta(description="Only those that this job saved.")] | None = None
    cursor: Cursor | None = None
    limit: Limit = 50


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
    before: Annotated[Id, Meta(description="The older payload; the one before `to` if it is not given.")] | None = None
    after: Annotated[Id, Meta(description="The newer payload; the newest if it is not given.")] | None = None
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


CONTENT = (NO_PAYLOAD_STORE, PAYLOAD_MISSING, STORE_UNAVAILABLE)
routes = Routes("payloads")


@routes("GET", "/api/payloads", "List payloads, newest first", scope=Scope.READ)
async def list_payloads(call: Call[PayloadsParameters, None]) -> Page[PayloadRecord]:
    """What is known of the payloads, newest first."""
    asked = call.parameters
    found = await call.services.client.payloads.list(
        key=asked.key, kind=asked.kind, job_id=asked.job_id, before_id=place_of(asked.cursor), page_size=asked.limit
    )
    return _page(found, asked.limit)


@routes("GET", "/api/payloads/{id}", "Show what is known of a payload", errors=(UNKNOWN_PAYLOAD,), scope=Scope.READ)
async def show_payload(call: Call[ById, None]) -> PayloadRecord:
    """What is known of one payload."""
    return await call.services.client.payloads.get(call.parameters.id)


@routes("GET", "/api/payloads/store/{key}", "List the payloads about a key, newest first", scope=Scope.READ)
async def list_store_payloads(call: Call[StoreParameters, None]) -> Page[PayloadRecord]:
    """The payloads about a key, newest first."""
    asked = call.parameters
    found = await call.services.client.payloads.list(
        key=asked.key, kind=asked.kind, before_id=place_of(asked.cursor), page_size=asked.limit
    )
    return _page(found, asked.limit)


@routes(
    "GET",
    "/api/payloads/store/{key}/latest",
    "Show the newest payload about a key",
    errors=(UNKNOWN_PAYLOAD,),
    scope=Scope.READ,
)
async def show_latest_payload(call: Call[LatestParameters, None]) -> PayloadRecord:
    """The newest payload about a key."""
    asked = call.parameters
    found = await call.services.client.payloads.latest(asked.key, asked.kind)
    if found is None:
        raise UnknownPayload(f"there is no payload about {asked.key!r}")
    return found


@routes(
    "GET",
    "/api/payloads/store/{key}/diff",
    "Compare two payloads about a key",
    errors=(UNKNOWN_PAYLOAD, PAYLOAD_DAMAGED, TOO_MANY_DIFFS, *CONTENT),
    scope=Scope.READ,
)
async def diff_payloads(call: Call[DiffParameters, None]) -> PayloadDiff:
    """Compares the records of two payloads about a key: which were added and removed, and of which a field has changed.

    Without `from` and `to` it compares the newest payload with the one before. `productCount` is the number of records. Payloads
    of up to 256 MiB and a million records are compared, two pairs at once; where many wait, the answer is 503 with `Retry-After`.
    """
    async with call.services.diffs.take(TOO_MANY_DIFFS):
        return await call.services.client.payloads.diff(**msgspec.structs.asdict(call.parameters))


def _page(found: list[PayloadRecord], limit: int) -> Page[PayloadRecord]:
    return Page(found, cursor_at(found[-1].id) if len(found) == limit else None)
