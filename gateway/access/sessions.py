"""Browsers that signed in: a token, shown once, becomes a session whose secret stays in a cookie.

A session is found as its token is, so it ends when that is revoked. Scripts cannot read the cookie, and other sites cannot
have it sent. A session of the token in the settings also ends when that is changed: its hash is made of both.
"""

from __future__ import annotations

from typing import Final, Protocol

import msgspec
from aiohttp import web

from leasehold.access.tokens import hash_token, is_session, make_session
from leasehold.database import Caller
from leasehold.gateway.access.identities import Identity

COOKIE: Final = "leasehold_session"
CSRF_HEADER: Final = "X-Leasehold-CSRF"
"""What pages of other sites cannot send; each change by a session has to have it."""


class Session(msgspec.Struct, frozen=True):
    """A browser that signed in: what its cookie says, and for how many seconds."""

    secret: str
    seconds: float


class SessionStore(Protocol):
    """Where sessions are kept."""

    async def open(self, identity: Identity) -> Session: ...
    async def close(self, secret: str) -> None: ...


class DatabaseSessions:
    """The table `api_sessions`.

    Args:
        lifetime: seconds after which a session ends by itself.
        token: the one of the settings.
    """

    def __init__(self, database: Caller, lifetime: float, token: str | None) -> None:
        self._database = database
        self._lifetime = lifetime
        self._token = token

    async def open(self, identity: Identity) -> Session:
        """Sign in whoever showed the token of `identity`. Raises NotFound if that was revoked meanwhile."""
        secret = make_session(of_settings=identity.token_id is None)
        key = hash_token(lookup_text(secret, self._token))
        seconds = await self._database.call_value("create_session", key, identity.token_id, self._lifetime)
        assert isinstance(seconds, float)
        return Session(secret, seconds)

    async def close(self, secret: str) -> None:
        """Sign out; nothing happens where nobody is signed in."""
        await self._database.call_value("close_session", hash_token(lookup_text(secret, self._token)))


def session_of(request: web.BaseRequest) -> str | None:
    """What the cookie of a request says, if it can be a session."""
    secret = request.cookies.get(COOKIE)
    return secret if secret is not None and is_session(secret) else None


def lookup_text(secret: str, token: str | None) -> str:
    """The text whose hash the database has: the secret, and with a session of the settings their token."""
    return f"{secret}.{token or ''}" if is_session(secret, of_settings=True) else secret


def cookie_of(secret: str, seconds: float, *, path: str, is_secure: bool) -> str:
    """The header Set-Cookie; 0 seconds take the cookie away."""
    parts = [f"{COOKIE}={secret}", f"Path={path}", f"Max-Age={int(seconds)}", "HttpOnly", "SameSite=Strict"]
    return "; ".join([*parts, *(["Secure"] if is_secure else [])])


def is_secure(request: web.BaseRequest) -> bool:
    """Whether the browser speaks TLS, with us or with the proxy before us."""
    return request.secure or request.headers.get("X-Forwarded-Proto", "").partition(",")[0].strip() == "https"
