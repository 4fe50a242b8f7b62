"""The handlers of `/api/payloads…` that answer JSON."""

from __future__ import annotations

from leasehold.errors import UnknownPayload
from leasehold.gateway.http.pages import Page, cursor_at, place_of
from leasehold.gateway.http.problems import TOO_MANY_DIFFS
from leasehold.gateway.resources.payloads.bodies import (
    DiffParameters,
    LatestParameters,
    PayloadParameters,
    PayloadsParameters,
    StoreParameters,
)
from leasehold.gateway.routing.routes import Call
from leasehold.records.payloads import PayloadDiff, PayloadRecord


async def list_payloads(call: Call[PayloadsParameters, None]) -> Page[PayloadRecord]:
    """What is known of the payloads, newest first."""
    asked = call.parameters
    found = await call.services.client.payloads.list(
        key=asked.key, kind=asked.kind, job_id=asked.job_id, before_id=place_of(asked.cursor), page_size=asked.limit
    )
    return _page(found, asked.limit)


async def show_payload(call: Call[PayloadParameters, None]) -> PayloadRecord:
    """What is known of one payload."""
    return await call.services.client.payloads.get(call.parameters.id)


async def list_store_payloads(call: Call[StoreParameters, None]) -> Page[PayloadRecord]:
    """The payloads about a key, newest first."""
    asked = call.parameters
    found = await call.services.client.payloads.list(
        key=asked.key, kind=asked.kind, before_id=place_of(asked.cursor), page_size=asked.limit
    )
    return _page(found, asked.limit)


async def show_latest_payload(call: Call[LatestParameters, None]) -> PayloadRecord:
    """The newest payload about a key."""
    asked = call.parameters
    found = await call.services.client.payloads.latest(asked.key, asked.kind)
    if found is None:
        raise UnknownPayload(f"there is no payload about {asked.key!r}")
    return found


async def diff_payloads(call: Call[DiffParameters, None]) -> PayloadDiff:
    """Compares the records of two payloads about a key: which were added and removed, and of which a field has changed.

    Without `from` and `to` it compares the newest payload with the one before. `productCount` is the number of records. Payloads
    of up to 256 MiB and a million records are compared, two pairs at once; where many wait, the answer is 503 with `Retry-After`.
    """
    asked = call.parameters
    async with call.services.diffs.take(TOO_MANY_DIFFS):
        return await call.services.client.payloads.diff(
            asked.key,
            asked.before,
            asked.after,
            kind=asked.kind,
            record_key=asked.record_key,
            fields=asked.fields,
            records=asked.records,
            limit=asked.limit,
        )


def _page(found: list[PayloadRecord], limit: int) -> Page[PayloadRecord]:
    return Page(found, cursor_at(found[-1].id) if len(found) == limit else None)
