"""`/api/kinds…`: the catalogue of kinds."""

from __future__ import annotations

import msgspec

from leasehold.errors import NotFound
from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import Name, Page
from leasehold.gateway.http.problems import UNKNOWN_KIND_HERE, WRONG_STATE, Refusal
from leasehold.gateway.routing.routes import Call, NoParameters, Routes
from leasehold.records.queues import DroppedKind, KindRecord


class KindParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which kind."""

    kind: Name


routes = Routes("kinds")


@routes("GET", "/api/kinds", "List the kinds that apps have declared", scope=Scope.READ)
async def list_kinds(call: Call[NoParameters, None]) -> Page[KindRecord]:
    """The kinds that apps have declared, by name: what their jobs get where a request does not say it, the JSON Schema that args
    have to fit, and which versions of the app disagree."""
    return Page(await call.services.client.kinds.list())


@routes("GET", "/api/kinds/{kind}", "Show one kind", errors=(UNKNOWN_KIND_HERE,), scope=Scope.READ)
async def show_kind(call: Call[KindParameters, None]) -> KindRecord:
    """One kind. Workers declare theirs when they start, and `leasehold kinds sync` does; a kind that nobody has declared is not
    here, though its jobs may be enqueued."""
    try:
        return await call.services.client.kinds.get(call.parameters.kind)
    except NotFound as error:
        raise Refusal(UNKNOWN_KIND_HERE, f"No app has declared a kind {call.parameters.kind!r}.") from error


@routes(
    "DELETE",
    "/api/kinds/{kind}",
    "Take a kind out of the catalogue that no app has any more",
    errors=(UNKNOWN_KIND_HERE, WRONG_STATE),
    scope=Scope.OPERATE,
)
async def drop_kind(call: Call[KindParameters, None]) -> DroppedKind:
    """Takes a kind out of the catalogue that no app has any more. Refused while a live worker serves it, or a job that has not
    ended or a schedule is of it. A worker that still has it declares it anew when it starts."""
    try:
        await call.services.client.kinds.drop(call.parameters.kind)
    except NotFound as error:
        raise Refusal(UNKNOWN_KIND_HERE, f"No app has declared a kind {call.parameters.kind!r}.") from error
    return DroppedKind(kind=call.parameters.kind)
