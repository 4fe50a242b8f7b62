"""The routes of `/api/session`."""

from __future__ import annotations

from leasehold.gateway.http.problems import (
    DATABASE_ERRORS,
    FOREIGN_ORIGIN,
    NOT_FOUND,
    TOO_MANY_FAILURES,
    UNAUTHORIZED,
    UNKNOWN_HOST,
)
from leasehold.gateway.resources.tokens import session_bodies, session_handlers
from leasehold.gateway.routing.routes import Route

TAGS = ("session",)
ERRORS = (NOT_FOUND, TOO_MANY_FAILURES, UNKNOWN_HOST, FOREIGN_ORIGIN, *DATABASE_ERRORS)

SESSION_ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/session",
        handler=session_handlers.show_session,
        summary="Show who calls",
        response=session_bodies.SessionBody,
        errors=ERRORS,
        tags=TAGS,
        is_raw=True,
    ),
    Route(
        method="POST",
        path="/api/session",
        handler=session_handlers.open_session,
        summary="Sign a browser in with a token",
        request=session_bodies.SignInBody,
        response=session_bodies.SessionBody,
        status=201,
        errors=(UNAUTHORIZED, *ERRORS),
        tags=TAGS,
        is_raw=True,
        example={"token": "lh_…"},
    ),
    Route(
        method="DELETE",
        path="/api/session",
        handler=session_handlers.close_session,
        summary="Sign a browser out",
        response=None,
        status=204,
        errors=ERRORS,
        tags=TAGS,
        is_raw=True,
    ),
)
