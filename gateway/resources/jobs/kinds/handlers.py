"""The handlers of `/api/kinds…`."""

from __future__ import annotations

from leasehold.errors import NotFound
from leasehold.gateway.http.pages import Page
from leasehold.gateway.http.problems import UNKNOWN_KIND_HERE, Refusal
from leasehold.gateway.resources.jobs.kinds.bodies import KindParameters
from leasehold.gateway.routing.routes import Call, NoParameters
from leasehold.records.kinds import DroppedKind, KindRecord


async def list_kinds(call: Call[NoParameters, None]) -> Page[KindRecord]:
    """The kinds that apps have declared, by name: what their jobs get where a request does not say it, the JSON Schema that args
    have to fit, and which versions of the app disagree."""
    return Page(await call.services.client.kinds.list())


async def show_kind(call: Call[KindParameters, None]) -> KindRecord:
    """One kind. Workers declare theirs when they start, and `leasehold kinds sync` does; a kind that nobody has declared is not
    here, though its jobs may be enqueued."""
    try:
        return await call.services.client.kinds.get(call.parameters.kind)
    except NotFound as error:
        raise Refusal(UNKNOWN_KIND_HERE, f"No app has declared a kind {call.parameters.kind!r}.") from error


async def drop_kind(call: Call[KindParameters, None]) -> DroppedKind:
    """Takes a kind out of the catalogue that no app has any more. Refused while a live worker serves it, or a job that has not
    ended or a schedule is of it. A worker that still has it declares it anew when it starts."""
    try:
        await call.services.client.kinds.drop(call.parameters.kind)
    except NotFound as error:
        raise Refusal(UNKNOWN_KIND_HERE, f"No app has declared a kind {call.parameters.kind!r}.") from error
    return DroppedKind(kind=call.parameters.kind)
