"""The OpenAPI document and the page that shows it, from a fixed list of files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from leasehold.gateway.http.replies import Reply
from leasehold.gateway.routing.document import alias_document_of, document_of
from leasehold.gateway.routing.routes import Call, NoParameters, Route, Routes

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
KEPT = {"Cache-Control": "private, max-age=3600"}

Handler = Callable[[Call[NoParameters, None]], Awaitable[object]]


def with_documents(routes: Sequence[Route]) -> tuple[Route, ...]:
    """`routes`, and the routes that show the documents about all of them."""
    own = Routes("documents")

    @cache
    def document() -> dict[str, Any]:
        return document_of((*routes, *own))

    @cache
    def alias_document() -> dict[str, Any]:
        return alias_document_of(routes)

    @own("GET", "/openapi.json", "Show this document")
    async def show_document(call: Call[NoParameters, None]) -> dict[str, Any]:
        """This document, in OpenAPI 3.1."""
        return {**document(), "servers": [{"url": call.prefix or "/"}]}

    @own("GET", "/openapi-compat.json", "Show the document of the aliases")
    async def show_alias_document(call: Call[NoParameters, None]) -> dict[str, Any]:
        """The document of the paths and words that clients of task workers know, in OpenAPI 3.1."""
        return {**alias_document(), "servers": [{"url": call.prefix or "/"}]}

    summary = "Show a page on which this document can be read and tried"
    headers = {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer"}
    own("GET", "/docs", summary, response=str, media_type=HTML)(_file("index.html", headers))
    for name, media_type in FILES.items():
        file = own("GET", f"/docs/{name}", f"Show {name}", response=str, media_type=media_type, is_listed=False)
        file(_file(name, KEPT))
    return (*routes, *own)


def _file(name: str, headers: dict[str, str]) -> Handler:
    @cache
    def content() -> bytes:
        return (VIEWER / name).read_bytes()

    async def show_viewer(_call: Call[NoParameters, None]) -> Reply:
        """A page of this service. It loads nothing from other hosts."""
        return Reply(content(), headers=headers)

    return show_viewer
