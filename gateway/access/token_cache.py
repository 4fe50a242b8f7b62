"""A cache of the database's tokens: each is looked up once, kept for a short time, and removed when it changes.

A request with a cached token costs no query. A revoked token is removed when its revocation is notified. Without
notifications (a pooler in between, a lost connection) an entry is valid for one second only. Unknown tokens have a cache of
their own, so that guesses do not displace good tokens.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import msgspec

from leasehold.access.tokens import hash_token
from leasehold.database import Caller, Database
from leasehold.errors import DatabaseUnavailable
from leasehold.gateway.access.identities import Identity, scopes_of
from leasehold.notify.asyncio_listener import AsyncioListener

CHANNEL = "leasehold_access"
HEARING_SECONDS = 10.0  # a connection may be dead without anybody knowing
DEAF_SECONDS = 1.0
LAST_KNOWN_SECONDS = 900.0  # how long /metrics stays open to a token while the database is away
MOST_CACHED = 10_000
LOOKUPS_AT_ONCE = 4
LOOKUP_SECONDS = 25.0  # with the wait for those that are looked up before it
SUSPECT_LOOKUPS_AT_ONCE = 1


class CachedToken(msgspec.Struct, frozen=True):
    """What was found, and until when it is valid."""

    identity: Identity | None
    until: float


class TokenCache:
    """Tokens by their hash. Requests that look up the same token at the same time share one query.

    Attributes:
        is_listening: whether changes are notified.
    """

    def __init__(self, database: Caller, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._cached: dict[bytes, CachedToken] = {}
        self._refused: dict[bytes, CachedToken] = {}
        self._last_known: dict[bytes, CachedToken] = {}
        self._lookups = asyncio.Semaphore(LOOKUPS_AT_ONCE)
        self._suspect_lookups = asyncio.Semaphore(SUSPECT_LOOKUPS_AT_ONCE)
        self._asking: dict[bytes, asyncio.Task[Identity | None]] = {}
        self._any_until = -math.inf
        self._epoch = 0
        self._changes = 0
        self.is_listening = False

    def forget(self, *, has_changed: bool = True) -> None:
        """Drop what is cached, because something has changed or (`has_changed` false) may have changed."""
        self._epoch += 1
        self._cached.clear()
        self._refused.clear()
        if has_changed:
            self._changes += 1
            self._last_known.clear()
        self._asking.clear()
        self._any_until = -math.inf

    def recall(self, token: str) -> Identity | None:
        """The owner of this token if it is cached. Does not wait."""
        return self._valid(self._cached, hash_token(token))

    def last_known(self, token: str) -> Identity | None:
        """The owner of this token when the database was last asked, at most some minutes ago and before any change."""
        return self._valid(self._last_known, hash_token(token))

    async def find(self, token: str, *, is_suspect: bool = False) -> Identity | None:
        """The owner of this token, or None. Suspects are looked up one after the other, so that they delay nobody else; a token
        that was good recently is none. Raises DatabaseUnavailable."""
        key = hash_token(token)
        found = self._cached.get(key) or self._refused.get(key)
        if found is not None and self._clock() < found.until:
            return found.identity
        asking = self._asking.get(key)
        if asking is None:
            is_suspect = is_suspect and self._valid(self._last_known, key) is None
            lookups = self._suspect_lookups if is_suspect else self._lookups
            asking = self._asking[key] = asyncio.create_task(self._ask(key, self._epoch, lookups))
            asking.add_done_callback(_retrieve)
        # Shielded: a caller who hangs up must not take the answer away from the others.
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                return await asyncio.shield(asking)
        except TimeoutError:
            raise DatabaseUnavailable("too many tokens are being looked up for this one to be found in time") from None

    async def has_any(self) -> bool:
        """Whether there is a token that is not revoked. One that has expired counts: nobody has opened the gateway by that.
        That there is none is not remembered, so that the first one counts at once.

        Raises DatabaseUnavailable.
        """
        if self._clock() < self._any_until:
            return True
        epoch = self._epoch
        rows = await self._database.fetch(
            "select exists (select from leasehold.list_tokens(everything => true) t where t.state <> 'revoked') as any"
        )
        found = bool(rows[0]["any"])
        if found and epoch == self._epoch:
            self._any_until = self._clock() + self._seconds
        return found

    @property
    def _seconds(self) -> float:
        return HEARING_SECONDS if self.is_listening else DEAF_SECONDS

    def _valid(self, where: dict[bytes, CachedToken], key: bytes) -> Identity | None:
        found = where.get(key)
        return found.identity if found is not None and self._clock() < found.until else None

    async def _ask(self, key: bytes, epoch: int, lookups: asyncio.Semaphore) -> Identity | None:
        changes = self._changes
        try:
            async with lookups:
                rows = await self._database.call("find_token", key)
        finally:
            if epoch == self._epoch:
                self._asking.pop(key, None)
        identity, lives = None, math.inf
        for row in rows:
            identity = Identity(name=row["name"], scopes=scopes_of(row["scopes"]), token_id=row["token_id"])
            lives = math.inf if row["expires_in"] is None else row["expires_in"]
        now = self._clock()
        if identity is None:
            self._last_known.pop(key, None)
        elif changes == self._changes:
            _keep(self._last_known, key, CachedToken(identity, now + min(LAST_KNOWN_SECONDS, lives)))
        if epoch == self._epoch:
            known, other = (self._refused, self._cached) if identity is None else (self._cached, self._refused)
            other.pop(key, None)
            _keep(known, key, CachedToken(identity, now + min(self._seconds, lives)))
        return identity


def _keep(where: dict[bytes, CachedToken], key: bytes, what: CachedToken) -> None:
    """Keep it; if there are too many, the oldest entry is removed."""
    where.pop(key, None)
    where[key] = what
    if len(where) > MOST_CACHED:
        del where[next(iter(where))]


def _retrieve(task: asyncio.Task[Identity | None]) -> None:
    """Retrieve the error of a lookup that nobody waits for any more, so that asyncio does not report it."""
    if not task.cancelled():
        task.exception()


@asynccontextmanager
async def open_tokens(
    database: Database, clock: Callable[[], float], *, listens: bool = True
) -> AsyncGenerator[TokenCache]:
    """The token cache of a database, kept up to date while this is open. Without `listens` it asks once a second."""
    tokens = TokenCache(database, clock)

    def changed() -> None:
        tokens.is_listening = listener.listening
        tokens.forget(has_changed=False)

    listener = AsyncioListener(database, lambda _payload: tokens.forget(), changed, channel=CHANNEL)
    if listens:
        listener.open()
    try:
        yield tokens
    finally:
        await listener.close()
