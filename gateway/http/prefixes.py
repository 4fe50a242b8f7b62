"""The path under which the outside world sees the gateway, where a proxy shows it below one."""

from __future__ import annotations

import re

from aiohttp import web

FORWARDED_PREFIX = "X-Forwarded-Prefix"
PREFIX = re.compile(r"(/[A-Za-z0-9._~-]+)+", re.ASCII)


def prefix_of(request: web.BaseRequest, setting: str = "") -> str:
    """The prefix without a slash at its end: of the setting, else as the proxy tells it. What is no plain path is ignored, so
    that nobody is led to another host."""
    told = request.headers.get(FORWARDED_PREFIX, "").partition(",")[0].strip().rstrip("/")
    return setting or (told if PREFIX.fullmatch(told) else "")
