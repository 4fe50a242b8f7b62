"""The routes of `/api/egress…`."""

from __future__ import annotations

from leasehold.gateway.access.guard import Scope
from leasehold.gateway.http.pages import Page
from leasehold.gateway.http.problems import DATABASE_ERRORS, UNKNOWN_IDENTITY
from leasehold.gateway.resources.egress import bodies, handlers
from leasehold.gateway.routing.routes import Route
from leasehold.records.identities import IdentityRecord

TAGS = ("egress",)

EGRESS_ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/egress",
        handler=handlers.list_identities,
        summary="List the egress identities",
        parameters=bodies.IdentitiesParameters,
        response=Page[IdentityRecord],
        errors=DATABASE_ERRORS,
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path="/api/egress",
        handler=handlers.add_identity,
        summary="Add an egress identity",
        request=bodies.IdentityBody,
        response=bodies.AddedIdentityBody,
        errors=DATABASE_ERRORS,
        scope=Scope.ADMIN,
        tags=TAGS,
        example={"name": "berlin-1", "locale": "de-DE", "proxy": "http://proxy.example:3128"},
    ),
    Route(
        method="POST",
        path="/api/egress/{name}/retire",
        handler=handlers.retire_identity,
        summary="Retire an egress identity",
        parameters=bodies.IdentityParameters,
        response=bodies.RetiredIdentityBody,
        errors=(UNKNOWN_IDENTITY, *DATABASE_ERRORS),
        scope=Scope.OPERATE,
        tags=TAGS,
    ),
)
