"""The OpenAPI document and the page that shows it, from a fixed list of files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from leasehold.gateway.http.replies import ENCODER, Reply
from leasehold.gateway.routing.document import document_of
from leasehold.gateway.routing.routes import Call, NoParameters, Route

VIEWER = Path(__file__).parents[1] / "viewer"
HTML = "text/html; charset=utf-8"
# Nothing from elsewhere, nothing inline but the sizes that the viewer sets on its own drawings.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
FILES = {
    "swagger-ui.css": "text/css; charset=utf-8",
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "start.js": "text/javascript; charset=utf-8",
}
TAGS = ("documents",)

Handler = Callable[[Call[NoParameters, None]], Awaitable[object]]


def with_documents(routes: Sequence[Route]) -> tuple[Route, ...]:
    """`routes`, and the routes that show the document about all of them."""

    @cache
    def encoded() -> bytes:
        return ENCODER.encode(document_of((*routes, *page)))

    async def show_document(_call: Call[NoParameters, None]) -> bytes:
        """This document, in OpenAPI 3.1."""
        return encoded()

    page = (
        Route(
            method="GET",
            path="/openapi.json",
            handler=show_document,
            summary="Show this document",
            response=dict[str, Any],
            has_etag=True,
            tags=TAGS,
        ),
        Route(
            method="GET",
            path="/docs",
            handler=_file("index.html", {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer"}),
            summary="Show a page on which this document can be read and tried",
            response=str,
            media_type=HTML,
            has_etag=True,
            tags=TAGS,
        ),
    )
    return (*routes, *page, *(_file_route(name, media_type) for name, media_type in FILES.items()))


def _file_route(name: str, media_type: str) -> Route:
    return Route(
        method="GET",
        path=f"/docs/{name}",
        handler=_file(name, {}),
        summary=f"Show {name}",
        response=str,
        media_type=media_type,
        has_etag=True,
        is_listed=False,
        tags=TAGS,
    )


def _file(name: str, headers: dict[str, str]) -> Handler:
    @cache
    def content() -> bytes:
        return (VIEWER / name).read_bytes()

    async def show_viewer(_call: Call[NoParameters, None]) -> Reply:
        """A page of this service. It loads nothing from other hosts."""
        return Reply(content(), headers=headers)

    return show_viewer
