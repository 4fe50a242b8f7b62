"""The tokens of the database, as the gateway knows them: looked up once, remembered for a moment, forgotten when told to.

A request costs no query. A revoked token dies when its revocation is notified; where the gateway does not hear that
(a pooler in between, a lost connection), what it remembers is good for one second only.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Protocol

import msgspec

from leasehold.database import AsyncioDatabase, Caller
from leasehold.gateway.identities import Identity, scopes_of
from leasehold.notify.ear import Ear
from leasehold.tokens import hash_token

CHANNEL = "leasehold_access"
HEARING_SECONDS = 10.0  # a connection may be dead without anybody knowing
DEAF_SECONDS = 1.0
MOST_REMEMBERED = 10_000


class TokenStore(Protocol):
    """Where a guard finds tokens."""

    def recall(self, token: str) -> Identity | None:
        """Who has this token, as far as that is remembered; waits for nothing."""
        ...

    async def find(self, token: str) -> Identity | None:
        """Who has this token; None: nobody. Raises DatabaseUnavailable."""
        ...

    async def has_any(self) -> bool:
        """Whether there has ever been a token: to revoke the last one must not open the door. Raises DatabaseUnavailable."""
        ...


class Remembered(msgspec.Struct, frozen=True):
    """What was found, and until when that counts."""

    identity: Identity | None
    until: float


class DatabaseTokens:
    """Tokens by their hash; those who ask for one at the same time share one query.

    Attributes:
        hears: whether a change would be notified.
    """

    def __init__(self, database: Caller, clock: Callable[[], float]) -> None:
        self._database = database
        self._clock = clock
        self._remembered: dict[bytes, Remembered] = {}
        self._asking: dict[bytes, asyncio.Task[Identity | None]] = {}
        self._any: tuple[bool, float] | None = None
        self._epoch = 0
        self.hears = False

    def forget(self) -> None:
        """Something has changed, or may have: ask again."""
        self._epoch += 1
        self._remembered.clear()
        self._asking.clear()
        self._any = None

    def recall(self, token: str) -> Identity | None:
        """Who has this token, if that is remembered."""
        found = self._remembered.get(hash_token(token))
        return found.identity if found is not None and self._clock() < found.until else None

    async def find(self, token: str) -> Identity | None:
        """Who has this token."""
        key = hash_token(token)
        found = self._remembered.get(key)
        if found is not None and self._clock() < found.until:
            return found.identity
        asking = self._asking.get(key)
        if asking is None:
            asking = self._asking[key] = asyncio.create_task(self._ask(key, self._epoch))
            asking.add_done_callback(_retrieve)
        # Shielded: a caller who hangs up must not take the answer away from the others.
        return await asyncio.shield(asking)

    async def has_any(self) -> bool:
        """Whether there has ever been a token."""
        if self._any is not None and self._clock() < self._any[1]:
            return self._any[0]
        epoch = self._epoch
        rows = await self._database.fetch(
            "select exists (select from leasehold.list_tokens(everything => true)) as any"
        )
        found = bool(rows[0]["any"])
        if epoch == self._epoch:
            self._any = (found, self._clock() + self._seconds)
        return found

    @property
    def _seconds(self) -> float:
        return HEARING_SECONDS if self.hears else DEAF_SECONDS

    async def _ask(self, key: bytes, epoch: int) -> Identity | None:
        try:
            rows = await self._database.call("find_token", key)
        finally:
            if epoch == self._epoch:
                self._asking.pop(key, None)
        identity, left = None, self._seconds
        for row in rows:
            identity = Identity(
                name=row["name"],
                scopes=scopes_of(row["scopes"]),
                token_id=row["token_id"],
                rate=row["rate"],
                burst=row["burst"],
            )
            left = min(left, left if row["expires_in"] is None else row["expires_in"])
        if epoch == self._epoch:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = Remembered(identity, self._clock() + left)
        return identity


def _retrieve(task: asyncio.Task[Identity | None]) -> None:
    """Where everybody who asked has hung up, nobody is told that it failed."""
    if not task.cancelled():
        task.exception()


@asynccontextmanager
async def open_tokens(
    database: AsyncioDatabase, clock: Callable[[], float], *, listens: bool = True
) -> AsyncGenerator[DatabaseTokens]:
    """The tokens of a database, kept up to date while this is open. With `listens` false it asks once a second."""
    tokens = DatabaseTokens(database, clock)

    def changed() -> None:
        tokens.hears = ear.listening
        tokens.forget()

    ear = Ear(database, lambda _payload: tokens.forget(), changed, channel=CHANNEL)
    if listens:
        ear.open()
    try:
        yield tokens
    finally:
        await ear.close()
