"""The routes of `/api/tokens…` and `/api/audit`."""

from __future__ import annotations

from leasehold.access_records import AuditEntry, TokenRecord
from leasehold.gateway import access_tokens
from leasehold.gateway.access import Scope
from leasehold.gateway.pages import Page
from leasehold.gateway.problems import DATABASE_ERRORS, UNKNOWN_TOKEN, WRONG_STATE
from leasehold.gateway.routes import Route
from leasehold.gateway.token_bodies import (
    AuditParameters,
    NewTokenBody,
    RevokedBody,
    TokenBody,
    TokenParameters,
    TokensParameters,
)

TAGS = ("access",)

TOKEN_ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/tokens",
        handler=access_tokens.list_tokens,
        summary="List the tokens",
        parameters=TokensParameters,
        response=Page[TokenRecord],
        errors=DATABASE_ERRORS,
        scope=Scope.ADMIN,
        tags=TAGS,
    ),
    Route(
        method="POST",
        path="/api/tokens",
        handler=access_tokens.create_token,
        summary="Make a token",
        request=TokenBody,
        response=NewTokenBody,
        status=201,
        errors=(WRONG_STATE, *DATABASE_ERRORS),
        scope=Scope.ADMIN,
        tags=TAGS,
    ),
    Route(
        method="DELETE",
        path="/api/tokens/{id}",
        handler=access_tokens.revoke_token,
        summary="Shut a token out",
        parameters=TokenParameters,
        response=RevokedBody,
        errors=(UNKNOWN_TOKEN, *DATABASE_ERRORS),
        scope=Scope.ADMIN,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/audit",
        handler=access_tokens.list_audit,
        summary="List what was done by whom",
        parameters=AuditParameters,
        response=Page[AuditEntry],
        errors=DATABASE_ERRORS,
        scope=Scope.ADMIN,
        tags=TAGS,
    ),
)
