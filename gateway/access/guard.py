"""Who may call: access tokens with scopes, and the addresses that need no token."""

from __future__ import annotations

import hmac
import ipaddress
import logging
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from aiohttp import web

from leasehold.access.tokens import is_session, is_token
from leasehold.errors import DatabaseUnavailable, SettingsError
from leasehold.gateway.access.failures import Failures
from leasehold.gateway.access.identities import ANONYMOUS, BOOTSTRAP, Identity, Scope
from leasehold.gateway.access.token_cache import TokenCache
from leasehold.gateway.http.headers import Cors
from leasehold.gateway.http.problems import (
    FOREIGN_ORIGIN,
    INSUFFICIENT_SCOPE,
    MALFORMED_REQUEST,
    TOO_MANY_FAILURES,
    UNAUTHORIZED,
    UNKNOWN_HOST,
    Refusal,
)
from leasehold.settings import Settings

log = logging.getLogger(__name__)

SHORTEST_PUBLIC_TOKEN = 16
CHALLENGE = 'Bearer realm="leasehold"'
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
COOKIE: Final = "leasehold_session"
CSRF_HEADER: Final = "X-Leasehold-CSRF"
"""What pages of other sites cannot send; each change by a session has to have it."""
OF_PROXIES: Final = ("Forwarded", "Via", "X-Forwarded-For", "X-Real-IP")
"""Headers that say that the caller is not the one at the other end of the connection."""


class Guard:
    """Decides whether a request is admitted, and who sent it.

    Args:
        settings: with the token that may do everything, and the address: where other machines can reach it, nobody is admitted
            without a token.
        tokens: those with scopes.
        clock: seconds, of any beginning, for the wrong tokens of an address.

    Attributes:
        cors: the origins whose pages may send requests.
    """

    def __init__(self, settings: Settings, tokens: TokenCache, clock: Callable[[], float]) -> None:
        self._token = settings.gateway_token or None
        self._is_public = not is_loopback(settings.gateway_host)
        self._tokens = tokens
        self._failures = Failures(clock)
        self.cors = Cors(settings.gateway_cors_origins)

    async def admit(self, request: web.Request, scope: Scope, *, outlasts_database: bool = False) -> Identity:
        """Find out who calls. With `outlasts_database`, a token that was good some minutes ago is accepted while the
        database is away.

        Raises Refusal: no token or a wrong one, the wrong scope, too many wrong ones; DatabaseUnavailable where the token is not
        known here yet and the database cannot be asked.
        """
        try:
            identity = await self.find_caller(request)
        except DatabaseUnavailable:
            token = self._shown_by(request) if outlasts_database else None
            identity = None if token is None else self._tokens.last_known(token)
            if identity is None:
                raise
        if identity is None:
            error = "" if self._shown_by(request) is None else ', error="invalid_token"'
            raise Refusal(
                UNAUTHORIZED,
                "Send 'Authorization: Bearer TOKEN' with a token that is active.",
                headers={"WWW-Authenticate": CHALLENGE + error},
            )
        if scope not in identity.scopes:
            raise lacks_scope(identity, scope)
        return identity

    async def find_caller(self, request: web.Request) -> Identity | None:
        """Who calls: by the access token, else by the session in the cookie, else anybody where there are no tokens.

        Raises as `admit`.
        """
        if bearer_of(request) is not None:
            return await self.identify(self._shown_by(request) or "", request.remote)
        return await self._without_bearer(request)

    async def _without_bearer(self, request: web.Request) -> Identity | None:
        """A session that has ended is no guess, since a browser goes on to send it: it is not counted."""
        session = self._shown_by(request)
        identity = None if session is None else await self._find(session, is_suspect=True)
        if identity is None:
            return await self._anonymous(request)
        _check_origin(request)
        return identity

    def _shown_by(self, request: web.Request) -> str | None:
        """The access token, or the text by which a session is looked up."""
        token = bearer_of(request)
        if token is not None:
            return "" if is_session(token.partition(".")[0]) else token
        session = session_of(request)
        return None if session is None else lookup_text(session, self._token)

    async def still_admits(self, request: web.Request, scope: Scope) -> bool:
        """Whether an admitted request would still be admitted: for streams. True while the database is away."""
        is_bearer = bearer_of(request) is not None
        try:
            identity = await (self._find(self._shown_by(request) or "") if is_bearer else self._without_bearer(request))
        except DatabaseUnavailable:
            return True
        except Refusal:
            return False
        return identity is not None and scope in identity.scopes

    async def _anonymous(self, request: web.Request) -> Identity | None:
        """On loopback without any token everybody is admitted, except who comes through a proxy that says so, and web pages in
        the user's browser. The Host header reveals a page that rebinds its name to 127.0.0.1, the Origin header one that sends
        a form."""
        is_proxied = any(name in request.headers for name in OF_PROXIES)
        if self._token is not None or self._is_public or is_proxied or await self._tokens.has_any():
            return None
        host = request.headers.get("Host", "")
        if not is_loopback(host_name(host)):
            raise Refusal(UNKNOWN_HOST, f"Without a token only loopback names are served, not {host!r}.")
        origin = request.headers.get("Origin")
        if (
            origin is not None
            and request.method not in SAFE_METHODS
            and not (origin.partition("://")[2] == host or self.cors.allows(origin))
        ):
            raise Refusal(FOREIGN_ORIGIN, f"Without a token, pages of {origin[:200]!r} may change nothing.")
        return ANONYMOUS

    async def identify(self, token: str, address: str | None) -> Identity | None:
        """The owner of a token or of a session's text. Text that cannot be a token belongs to nobody and is not counted.
        A possible token is always looked up; only tokens that the database refuses count against the address."""
        if self._is_expected(token):
            return BOOTSTRAP
        if not is_possible(token):
            return None
        identity = self._tokens.recall(token)
        if identity is None:
            identity = await self._tokens.find(token, is_suspect=self._failures.wait_for(address) > 0)
        if identity is None:
            self._check_failures(address)
            if self._failures.add(address):
                log.warning("too many wrong tokens from %s; others that it tries are answered 429", address)
        return identity

    async def _find(self, token: str, *, is_suspect: bool = False) -> Identity | None:
        if self._is_expected(token):
            return BOOTSTRAP
        return await self._tokens.find(token, is_suspect=is_suspect) if is_possible(token) else None

    def _is_expected(self, token: str) -> bool:
        given = token.encode("utf-8", "surrogateescape")
        return self._token is not None and hmac.compare_digest(given, self._token.encode())

    def _check_failures(self, address: str | None) -> None:
        seconds = self._failures.wait_for(address)
        if seconds:
            raise Refusal(
                TOO_MANY_FAILURES,
                "Too many wrong tokens came from this address.",
                headers={"Retry-After": str(math.ceil(seconds))},
            )


def session_of(request: web.BaseRequest) -> str | None:
    """What the cookie of a request says, if it can be a session."""
    secret = request.cookies.get(COOKIE)
    return secret if secret is not None and is_session(secret) else None


def lookup_text(secret: str, token: str | None) -> str:
    """The text whose hash the database has: the secret, and with a session of the settings their token."""
    return f"{secret}.{token or ''}" if is_session(secret, of_settings=True) else secret


def is_possible(text: str) -> bool:
    """Whether it can be a token, or the text by which a session is looked up."""
    return is_token(text) or is_session(text.partition(".")[0])


def _check_origin(request: web.Request) -> None:
    """A browser sends its cookie whoever wrote the page; so a change must come with what only our pages can add."""
    if request.method in SAFE_METHODS:
        return
    if CSRF_HEADER not in request.headers or request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        detail = f"With the session of a browser, changes need the header {CSRF_HEADER} and a page of this gateway."
        raise Refusal(FOREIGN_ORIGIN, detail)


def lacks_scope(identity: Identity, scope: Scope) -> Refusal:
    """The refusal of a caller without this scope."""
    error = f', error="insufficient_scope", scope="{scope.value}"'
    return Refusal(
        INSUFFICIENT_SCOPE,
        f"This needs a token with the scope {scope.value}; {identity.name} has not got it.",
        headers={"WWW-Authenticate": CHALLENGE + error},
    )


def bearer_of(request: web.Request) -> str | None:
    """The access token of a request: None without an Authorization header, empty if it has another scheme."""
    given = request.headers.getall("Authorization", ())
    if not given:
        return None
    if len(given) > 1:
        raise Refusal(MALFORMED_REQUEST, "There is more than one header Authorization.")
    kind, _, token = given[0].partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def check_binding(settings: Settings) -> None:
    """Refuses a token that cannot be sent or is easy to guess, and invalid origins. Raises SettingsError."""
    token, host = settings.gateway_token, settings.gateway_host
    Cors(settings.gateway_cors_origins)
    if token is not None and not (token.isascii() and token.isprintable() and token and " " not in token):
        raise SettingsError("gateway_token must be visible ASCII without spaces, e.g. from `openssl rand -hex 32`")
    if token is not None and not is_loopback(host) and len(token) < SHORTEST_PUBLIC_TOKEN:
        raise SettingsError(
            f"gateway_token has {len(token)} characters; off loopback it needs {SHORTEST_PUBLIC_TOKEN} or more, "
            "e.g. from `openssl rand -hex 32`"
        )


async def check_tokens(settings: Settings, tokens: TokenCache) -> None:
    """Refuses to serve other machines without any token. Raises SettingsError, and DatabaseUnavailable."""
    host = settings.gateway_host
    if is_loopback(host) or settings.gateway_token is not None or await tokens.has_any():
        return
    raise SettingsError(
        f"gateway_host = {host!r} can be reached from other machines and there is no token: make one with "
        "`leasehold tokens create NAME --scope …`, set gateway_token (LEASEHOLD_GATEWAY_TOKEN), or bind 127.0.0.1"
    )


@lru_cache(256)
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
