"""The id of a request: the caller's own if it is valid, else a new one. It is in the answer, in each log line of the
request, in problems and in the audit log."""

from __future__ import annotations

import re
import uuid

from aiohttp import web

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
