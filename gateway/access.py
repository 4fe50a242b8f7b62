"""Who may call: the bearer token, and the addresses that may be bound without one."""

from __future__ import annotations

import hmac
import ipaddress
from enum import Enum

from aiohttp import web

from leasehold.errors import SettingsError
from leasehold.gateway.problems import UNAUTHORIZED, UNKNOWN_HOST, Refusal
from leasehold.settings import Settings

SHORTEST_PUBLIC_TOKEN = 16
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="leasehold"'}


class Scope(Enum):
    """What a route lets its caller do. One token holds all of them today."""

    ENQUEUE = "enqueue"
    READ = "read"
    OPERATE = "operate"
    ADMIN = "admin"


class Guard:
    """Decides whether a request may pass."""

    def __init__(self, token: str | None) -> None:
        self._expected = f"Bearer {token}".encode() if token else None

    def check(self, request: web.Request, scope: Scope) -> None:  # noqa: ARG002 - tokens gain scopes with their table
        """Refuses a request without the token. Where there is none, refuses every name but loopback's, because a web
        page that rebinds its own name to 127.0.0.1 would otherwise reach this service from the user's browser."""
        if self._expected is None:
            host = request.headers.get("Host", "")
            if not is_loopback(host_name(host)):
                raise Refusal(UNKNOWN_HOST, f"Without a token only loopback names are served, not {host!r}.")
            return
        given = request.headers.get("Authorization", "")
        if not hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self._expected):
            raise Refusal(UNAUTHORIZED, "Send 'Authorization: Bearer TOKEN'.", headers=CHALLENGE)


def check_binding(settings: Settings) -> None:
    """Refuses settings that would offer the gateway to strangers, or a token that no caller could send.

    Raises SettingsError.
    """
    token, host = settings.gateway_token, settings.gateway_host
    if token is not None and not (token.isascii() and token.isprintable() and token and " " not in token):
        raise SettingsError("gateway_token must be visible ASCII without spaces, e.g. from `openssl rand -hex 32`")
    if is_loopback(host):
        return
    if token is None:
        raise SettingsError(
            f"gateway_host = {host!r} can be reached from other machines: set gateway_token (LEASEHOLD_GATEWAY_TOKEN, "
            "e.g. from `openssl rand -hex 32`), or bind 127.0.0.1"
        )
    if len(token) < SHORTEST_PUBLIC_TOKEN:
        raise SettingsError(
            f"gateway_token has {len(token)} characters; off loopback it needs {SHORTEST_PUBLIC_TOKEN} or more, "
            "e.g. from `openssl rand -hex 32`"
        )


def is_loopback(host: str) -> bool:
    """Whether the name or address can only mean this machine."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_name(authority: str) -> str:
    """The host of a Host header: without the port, and without the brackets of IPv6."""
    if authority.startswith("["):
        return authority[1:].partition("]")[0]
    return authority.partition(":")[0]
