"""Headers: the id of a request, the prefix that a proxy adds, and which web pages of other origins may read answers.

No page may, unless the settings name its origin. Tokens travel in a header that no browser adds by itself, so no answer allows
credentials.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from aiohttp import web

from leasehold.errors import SettingsError

REQUEST_ID = "X-Request-Id"
SPEAKABLE = re.compile(r"[\w.:-]{1,128}", re.ASCII)
_KEY = web.RequestKey("request_id", str)


def request_id_of(request: web.BaseRequest) -> str:
    """The id of the request; the same at each call."""
    known = request.get(_KEY)
    if known is None:
        given = request.headers.get(REQUEST_ID, "")
        known = request[_KEY] = given if SPEAKABLE.fullmatch(given) else uuid.uuid4().hex
    return known


FORWARDED_PREFIX = "X-Forwarded-Prefix"
PREFIX = web.AppKey("prefix", str)
"""As the settings say; empty where they say nothing."""
PLAIN_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)+", re.ASCII)


def prefix_of(request: web.Request) -> str:
    """The prefix without a slash at its end: of the settings, else as the proxy tells it. What is no plain path is ignored, so
    that nobody is led to another host."""
    prefix = request.headers.get(FORWARDED_PREFIX, "").partition(",")[0].strip().rstrip("/")
    return request.app.get(PREFIX, "") or (prefix if PLAIN_PATH.fullmatch(prefix) else "")


ANY = "*"
METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE"
REQUEST_HEADERS = "Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Prefer, X-Request-Id"
ANSWER_HEADERS = "ETag, Link, Location, Preference-Applied, Retry-After, X-Request-Id"
PREFLIGHT_SECONDS = 600


class Cors:
    """The allowed origins. Raises SettingsError for an origin that no browser sends."""

    def __init__(self, origins: Iterable[str] = ()) -> None:
        self._origins = frozenset(check_origin(each) for each in origins)

    def allows(self, origin: str) -> bool:
        """Whether pages of this origin may read."""
        return ANY in self._origins or origin in self._origins

    def headers_for(self, request: web.BaseRequest) -> Mapping[str, str]:
        """The CORS headers of the answer; none if no origin is allowed."""
        if not self._origins:
            return {}
        headers = {} if ANY in self._origins else {"Vary": "Origin"}
        origin = request.headers.get("Origin")
        if origin is None or not self.allows(origin):
            return headers
        headers["Access-Control-Allow-Origin"] = ANY if ANY in self._origins else origin
        if request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers:
            headers["Access-Control-Allow-Methods"] = METHODS
            headers["Access-Control-Allow-Headers"] = REQUEST_HEADERS
            headers["Access-Control-Max-Age"] = str(PREFLIGHT_SECONDS)
        else:
            headers["Access-Control-Expose-Headers"] = ANSWER_HEADERS
        return headers


def check_origin(origin: str) -> str:
    """`origin` if it is one: scheme, host, and port where it is not the usual one. Raises SettingsError."""
    if origin == ANY:
        return origin
    parts = urlsplit(origin)
    is_whole = origin == f"{parts.scheme}://{parts.netloc}" and origin == origin.lower()
    if not is_whole or parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise SettingsError(
            f"gateway_cors_origins has {origin!r}, which is no origin; write for example https://jobs.example.org"
        )
    return origin
