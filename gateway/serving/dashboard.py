"""The dashboard: a page for every view, and the modules and styles that it loads.

The files lie in `gateway/dashboard/` as browsers run them. Their addresses begin with a hash over all of them, so each may be
kept for a year, and modules find one another by relative paths.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from hashlib import blake2b
from html import escape
from pathlib import Path

import msgspec
from aiohttp import web

from leasehold.gateway.http.headers import prefix_of
from leasehold.gateway.http.problems import NOT_FOUND, Refusal

FILES = Path(__file__).parents[1] / "dashboard"
MEDIA_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
VIEWS = (
    "jobs", "queues", "workers", "schedules", "failures", "chains", "capacity", "enqueue", "tokens", "audit",
    "doctor", "payloads", "egress",
)  # fmt: skip
"""The first words of the addresses of its pages."""
POLICY = "default-src 'self'; base-uri 'self'; object-src 'none'; form-action 'self'; frame-ancestors 'none'"
FOR_EVER = "public, max-age=31536000, immutable"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Asset(msgspec.Struct, frozen=True):
    """A file as it is sent."""

    media_type: str
    plain: bytes
    packed: bytes


def dashboard_routes() -> Iterator[tuple[str, Handler]]:
    """Its paths and their handlers."""

    async def show_page(request: web.Request) -> web.Response:
        return page_answer(request)

    yield "/", show_page
    for view in VIEWS:
        yield f"/{view}", show_page
        yield f"/{view}/{{rest:.+}}", show_page
    yield "/assets/{version}/{name:.+}", show_asset


def is_for_a_page(request: web.Request) -> bool:
    """Whether somebody looks for a page with a browser, and not a program for something of the API."""
    is_page = re.search(r"(^|/)(api|assets)/", request.path) is None
    return is_page and request.method == "GET" and "text/html" in request.headers.get("Accept", "")


def page_answer(request: web.Request, status: int = 200) -> web.Response:
    """The frame of all views, which says what is there where a view of this address is not."""
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store", "Referrer-Policy": "same-origin"}
    text = page_for(prefix_of(request))
    return web.Response(text=text, status=status, content_type="text/html", headers=headers)


async def show_asset(request: web.Request) -> web.Response:
    """A file of this version; another version's files are not there."""
    version, assets = load_assets()
    asset = assets.get(request.match_info["name"])
    if asset is None or request.match_info["version"] != version:
        raise Refusal(NOT_FOUND, "The dashboard has no such file; load the page again.")
    is_packed = "gzip" in request.headers.get("Accept-Encoding", "")
    headers = {"Content-Type": asset.media_type, "Cache-Control": FOR_EVER, "Vary": "Accept-Encoding"}
    packing = {"Content-Encoding": "gzip"} if is_packed else {}
    return web.Response(body=asset.packed if is_packed else asset.plain, headers={**headers, **packing})


@cache
def load_assets() -> tuple[str, dict[str, Asset]]:
    """The hash over all files, and the files by name."""
    found: dict[str, Asset] = {}
    digest = blake2b(digest_size=8)
    for file in sorted(FILES.rglob("*")):
        if file.suffix in MEDIA_TYPES and file.is_file():
            name, content = file.relative_to(FILES).as_posix(), file.read_bytes()
            digest.update(b"%s\0%d\0%s" % (name.encode(), len(content), content))
            found[name] = Asset(MEDIA_TYPES[file.suffix], content, gzip.compress(content, mtime=0))
    return digest.hexdigest(), found


def page_for(base: str) -> str:
    """The page that is the frame of every view, for the path under which browsers see the gateway."""
    version, _ = load_assets()
    text = (FILES / "index.html").read_text(encoding="utf-8")
    return text.replace("{base}", escape(f"{base}/", quote=True)).replace("{version}", version)
