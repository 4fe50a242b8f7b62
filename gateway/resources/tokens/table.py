"""The routes of `/api/tokens…` and `/api/audit`."""

from __future__ import annotations

from leasehold.access.records import AuditEntry, TokenRecord
from leasehold.gateway.access.guard import Scope
from leasehold.gateway.http.pages import Page
from leasehold.gateway.http.problems import DATABASE_ERRORS, UNKNOWN_TOKEN, WRONG_STATE
from leasehold.gateway.resources.tokens import bodies, handlers
from leasehold.gateway.routing.routes import Route

TAGS = ("access",)

TOKEN_ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/tokens",
        handler=handlers.list_tokens,
        summary="List the tokens",
        parameters=bodies.TokensParameters,
        response=Page[TokenRecord],
        errors=DATABASE_ERRORS,
        scope=Scope.ADMIN,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path="/api/tokens",
        handler=handlers.create_token,
        summary="Make a token",
        request=bodies.TokenBody,
        response=bodies.NewTokenBody,
        status=201,
        errors=(WRONG_STATE, *DATABASE_ERRORS),
        scope=Scope.ADMIN,
        tags=TAGS,
    ),
    Route(
        method="DELETE",
        path="/api/tokens/{id}",
        handler=handlers.revoke_token,
        summary="Revoke a token",
        parameters=bodies.TokenParameters,
        response=bodies.RevokedBody,
        errors=(UNKNOWN_TOKEN, *DATABASE_ERRORS),
        scope=Scope.ADMIN,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/audit",
        handler=handlers.list_audit,
        summary="List what was done by whom",
        parameters=bodies.AuditParameters,
        response=Page[AuditEntry],
        errors=DATABASE_ERRORS,
        scope=Scope.ADMIN,
        tags=TAGS,
    ),
)
