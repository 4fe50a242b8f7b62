"""The OpenAPI document and the page that shows it, from a fixed list of files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from leasehold.gateway.http.replies import ENCODER, Reply
from leasehold.gateway.routing.document import alias_document_of, document_of
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
KEPT = {"Cache-Control": "private, max-age=3600"}

Handler = Callable[[Call[NoParameters, None]], Awaitable[object]]


def with_documents(routes: Sequence[Route]) -> tuple[Route, ...]:
    """`routes`, and the routes that show the documents about all of them."""

    @cache
    def document() -> dict[str, Any]:
        return document_of((*routes, *pages))

    @cache
    def alias_document() -> dict[str, Any]:
        return alias_document_of(routes)

    async def show_document(call: Call[NoParameters, None]) -> bytes:
        """This document, in OpenAPI 3.1."""
        return _as_served_to(call, document())

    async def show_alias_document(call: Call[NoParameters, None]) -> bytes:
        """The document of the paths and words that clients of task workers know, in OpenAPI 3.1."""
        return _as_served_to(call, alias_document())

    pages = (
        _document_route("/openapi.json", show_document, "Show this document"),
        _document_route("/openapi-compat.json", show_alias_document, "Show the document of the aliases"),
        _page_route(),
    )
    return (*routes, *pages, *(_file_route(name, media_type) for name, media_type in FILES.items()))


def _as_served_to(call: Call[NoParameters, None], document: dict[str, Any]) -> bytes:
    return ENCODER.encode({**document, "servers": [{"url": call.prefix or "/"}]})


def _document_route(path: str, handler: Handler, summary: str) -> Route:
    return Route(method="GET", path=path, handler=handler, summary=summary, response=dict[str, Any], tags=TAGS)


def _page_route() -> Route:
    return Route(
        method="GET",
        path="/docs",
        handler=_file("index.html", {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer"}),
        summary="Show a page on which this document can be read and tried",
        response=str,
        media_type=HTML,
        tags=TAGS,
    )


def _file_route(name: str, media_type: str) -> Route:
    return Route(
        method="GET",
        path=f"/docs/{name}",
        handler=_file(name, KEPT),
        summary=f"Show {name}",
        response=str,
        media_type=media_type,
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
