"""Browsers that sign in and out: a token, shown once, becomes a session whose secret stays in a cookie.

A session is found as its token is, so it ends when that is revoked. Scripts cannot read the cookie, and other sites cannot
have it sent. A session of the token in the settings also ends when that is changed: its hash is made of both.
"""

from __future__ import annotations

from aiohttp import web

from leasehold.access.tokens import hash_token, make_session
from leasehold.database import Caller
from leasehold.errors import NotFound
from leasehold.gateway.access.guard import CHALLENGE, COOKIE, Guard, lookup_text, session_of
from leasehold.gateway.access.identities import Identity
from leasehold.gateway.http.headers import prefix_of
from leasehold.gateway.http.problems import FOREIGN_ORIGIN, UNAUTHORIZED, Refusal
from leasehold.settings import Settings


class Sessions:
    """Exchanges tokens for sessions, which the table `api_sessions` keeps.

    Attributes:
        guard: knows who owns a token.
    """

    def __init__(self, guard: Guard, database: Caller, settings: Settings) -> None:
        self.guard = guard
        self._database = database
        self._settings = settings

    async def open(self, request: web.Request, token: str) -> tuple[Identity, str]:
        """Sign in with a token: its owner, and the cookie.

        Raises Refusal: a wrong token, or too many of them, or a page of another site, which would sign its visitor in as somebody
        else; DatabaseUnavailable.
        """
        if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            raise Refusal(FOREIGN_ORIGIN, "Only a page of this gateway signs in.")
        identity = None
        if token.isascii() and token.isprintable():
            identity = await self.guard.identify(token, request.remote)
        if identity is None:
            raise _wrong_token()
        secret = make_session(of_settings=identity.token_id is None)
        lifetime = self._settings.gateway_session_seconds
        try:
            seconds = await self._database.call_value("create_session", self._key(secret), identity.token_id, lifetime)
        except NotFound:  # it was revoked meanwhile
            raise _wrong_token() from None
        assert isinstance(seconds, float)
        await self._forget(request)
        return identity, _cookie(request, secret, seconds)

    async def close(self, request: web.Request) -> str:
        """Sign out; the cookie that takes the old one away. Raises Refusal for a page of another site."""
        await self.guard.find_caller(request)
        await self._forget(request)
        return _cookie(request, "", 0)

    async def _forget(self, request: web.Request) -> None:
        """End the session that the browser had."""
        secret = session_of(request)
        if secret is not None:
            await self._database.call_value("close_session", self._key(secret))

    def _key(self, secret: str) -> bytes:
        return hash_token(lookup_text(secret, self._settings.gateway_token))


def _wrong_token() -> Refusal:
    return Refusal(UNAUTHORIZED, "This token is not active.", headers={"WWW-Authenticate": CHALLENGE})


def _cookie(request: web.Request, secret: str, seconds: float) -> str:
    """The header Set-Cookie; 0 seconds take the cookie away. The browser sends it below our prefix only, and by TLS only where it
    came so, with us or with the proxy before us."""
    path = f"{prefix_of(request)}/"
    parts = [f"{COOKIE}={secret}", f"Path={path}", f"Max-Age={int(seconds)}", "HttpOnly", "SameSite=Strict"]
    proxied = request.headers.get("X-Forwarded-Proto", "").partition(",")[0].strip()
    return "; ".join([*parts, "Secure"] if request.secure or proxied == "https" else parts)
