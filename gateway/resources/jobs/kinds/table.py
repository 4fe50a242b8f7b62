"""The routes of `/api/kinds…`."""

from __future__ import annotations

from leasehold.gateway.access.guard import Scope
from leasehold.gateway.http.pages import Page
from leasehold.gateway.http.problems import DATABASE_ERRORS, UNKNOWN_KIND_HERE, WRONG_STATE
from leasehold.gateway.resources.jobs.kinds import bodies, handlers
from leasehold.gateway.routing.routes import Route
from leasehold.records.kinds import DroppedKind, KindRecord

TAGS = ("kinds",)

KIND_ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/kinds",
        handler=handlers.list_kinds,
        summary="List the kinds that apps have declared",
        response=Page[KindRecord],
        errors=DATABASE_ERRORS,
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/kinds/{kind}",
        handler=handlers.show_kind,
        summary="Show one kind",
        parameters=bodies.KindParameters,
        response=KindRecord,
        errors=(UNKNOWN_KIND_HERE, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="DELETE",
        path="/api/kinds/{kind}",
        handler=handlers.drop_kind,
        summary="Take a kind out of the catalogue that no app has any more",
        parameters=bodies.KindParameters,
        response=DroppedKind,
        errors=(UNKNOWN_KIND_HERE, WRONG_STATE, *DATABASE_ERRORS),
        scope=Scope.OPERATE,
        tags=TAGS,
    ),
)
