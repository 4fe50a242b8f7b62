"""The routes of `/api/payloads…`."""

from __future__ import annotations

from leasehold.gateway.access.guard import Scope
from leasehold.gateway.http.pages import Page
from leasehold.gateway.http.problems import (
    DATABASE_ERRORS,
    INVALID_INPUT,
    NO_PAYLOAD_STORE,
    PAYLOAD_DAMAGED,
    PAYLOAD_MISSING,
    RANGE_NOT_SATISFIABLE,
    STORE_UNAVAILABLE,
    TOO_MANY_DIFFS,
    UNKNOWN_PAYLOAD,
)
from leasehold.gateway.resources.payloads import bodies, content, handlers
from leasehold.gateway.routing.routes import Route, Success
from leasehold.records.payloads import PayloadDiff, PayloadRecord

TAGS = ("payloads",)
CONTENT = (NO_PAYLOAD_STORE, PAYLOAD_MISSING, STORE_UNAVAILABLE)

PAYLOAD_ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/payloads",
        handler=handlers.list_payloads,
        summary="List payloads, newest first",
        parameters=bodies.PayloadsParameters,
        response=Page[PayloadRecord],
        errors=(INVALID_INPUT, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/payloads/store/{key}",
        handler=handlers.list_store_payloads,
        summary="List the payloads about a key, newest first",
        parameters=bodies.StoreParameters,
        response=Page[PayloadRecord],
        errors=(INVALID_INPUT, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/payloads/store/{key}/latest",
        handler=handlers.show_latest_payload,
        summary="Show the newest payload about a key",
        parameters=bodies.LatestParameters,
        response=PayloadRecord,
        errors=(UNKNOWN_PAYLOAD, INVALID_INPUT, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/payloads/store/{key}/diff",
        handler=handlers.diff_payloads,
        summary="Compare two payloads about a key",
        parameters=bodies.DiffParameters,
        response=PayloadDiff,
        errors=(UNKNOWN_PAYLOAD, INVALID_INPUT, PAYLOAD_DAMAGED, TOO_MANY_DIFFS, *CONTENT, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/payloads/{id}",
        handler=handlers.show_payload,
        summary="Show what is known of a payload",
        parameters=bodies.PayloadParameters,
        response=PayloadRecord,
        errors=(UNKNOWN_PAYLOAD, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=TAGS,
    ),
    Route(
        method="GET",
        path="/api/payloads/{id}/data",
        handler=content.show_payload_data,
        summary="Get the content of a payload",
        parameters=bodies.PayloadParameters,
        response=bytes,
        media_type="*/*",
        is_raw=True,
        successes=(Success(206, "A part, as `Range` asked.", bytes), Success(304, "The caller has it already.")),
        errors=(UNKNOWN_PAYLOAD, RANGE_NOT_SATISFIABLE, PAYLOAD_DAMAGED, *CONTENT, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=TAGS,
    ),
)
