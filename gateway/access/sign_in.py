"""Signing browsers in and out."""

from __future__ import annotations

from aiohttp import web

from leasehold.errors import NotFound
from leasehold.gateway.access.guard import CHALLENGE, Guard
from leasehold.gateway.access.identities import Identity
from leasehold.gateway.access.sessions import SessionStore, cookie_of, is_secure, session_of
from leasehold.gateway.http.headers import prefix_of
from leasehold.gateway.http.problems import FOREIGN_ORIGIN, UNAUTHORIZED, Refusal


class SignIn:
    """Exchanges tokens for sessions.

    Args:
        guard: knows who owns a token.
        sessions: where they are kept.
    """

    def __init__(self, guard: Guard, sessions: SessionStore) -> None:
        self._guard = guard
        self._sessions = sessions

    async def who(self, request: web.Request) -> Identity | None:
        """Who calls; None if nobody is signed in. Raises as `Guard.find_caller`."""
        return await self._guard.find_caller(request)

    async def open(self, request: web.Request, token: str) -> tuple[Identity, str]:
        """Sign in with a token: its owner, and the cookie.

        Raises Refusal: a wrong token, or too many of them, or a page of another site, which would sign its visitor in as somebody
        else; DatabaseUnavailable.
        """
        if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
            raise Refusal(FOREIGN_ORIGIN, "Only a page of this gateway signs in.")
        identity = None
        if token.isascii() and token.isprintable():
            identity = await self._guard.identify(token, request.remote)
        if identity is None:
            raise _wrong_token()
        try:
            session = await self._sessions.open(identity)
        except NotFound:
            raise _wrong_token() from None
        await self._forget(request)
        return identity, self._cookie(request, session.secret, session.seconds)

    async def close(self, request: web.Request) -> str:
        """Sign out; the cookie that takes the old one away. Raises Refusal for a page of another site."""
        await self._guard.find_caller(request)
        await self._forget(request)
        return self._cookie(request, "", 0)

    async def _forget(self, request: web.Request) -> None:
        """End the session that the browser had."""
        secret = session_of(request)
        if secret is not None:
            await self._sessions.close(secret)

    def _cookie(self, request: web.Request, secret: str, seconds: float) -> str:
        path = f"{prefix_of(request)}/"  # the cookie is sent only below it
        return cookie_of(secret, seconds, path=path, is_secure=is_secure(request))


def _wrong_token() -> Refusal:
    return Refusal(UNAUTHORIZED, "This token is not active.", headers={"WWW-Authenticate": CHALLENGE})
