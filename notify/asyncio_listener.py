"""A LISTEN connection for asyncio. It connects by itself and passes each payload on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from leasehold.database import Database
from leasehold.database.connector import close_connection
from leasehold.errors import LeaseholdError, ListenerDeaf, WrongAddress
from leasehold.notify.channel import CHANNEL, DEAF

log = logging.getLogger(__name__)

MISLED = "we cannot listen where LEASEHOLD_DIRECT_DATABASE_URL points, so we poll"

SHORTEST_PAUSE = 1.0
LONGEST_PAUSE = 30.0
# The pause behind a pooler that keeps notifications away: its configuration may change.
DEAF_PAUSE = 300.0

_warned: WeakSet[Database] = WeakSet()
"""The databases of which somebody has said that they are polled: each has several listeners."""


class AsyncioListener:
    """Listens while it is open. After a loss it connects again, with back-off.

    Args:
        hear: called with each payload.
        missed: called when notifications may have been missed: after each connect and after each loss.
        channel: the channel to listen on.

    Attributes:
        listening: whether the connection is open and hears the channel, as far as is known.
    """

    def __init__(
        self,
        database: Database,
        receive: Callable[[str], object],
        missed: Callable[[], object],
        *,
        channel: str = CHANNEL,
    ) -> None:
        self.listening = False
        self._database = database
        self._channel = channel
        self._receive = receive
        self._missed = missed
        self._task: asyncio.Task[None] | None = None

    def open(self) -> None:
        """Begin to listen, without waiting for it."""
        if self._task is None:
            self._task = asyncio.create_task(self._listen(), name="leasehold ear")

    async def close(self) -> None:
        """Stop listening, and wait until the connection is closed."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _listen(self) -> None:
        pause = SHORTEST_PAUSE
        while True:
            lost = asyncio.Event()
            try:
                connection: Any = await self._database.open_listening(self._channel, self._receive, lost.set)
            except LeaseholdError as error:
                if isinstance(error, ListenerDeaf):
                    pause = DEAF_PAUSE
                self._warn(error)
            else:
                pause = SHORTEST_PAUSE
                try:
                    self.listening = True
                    self._missed()
                    await lost.wait()
                finally:
                    self.listening = False
                    await close_connection(connection)
                self._missed()
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    def _warn(self, error: LeaseholdError) -> None:
        if not isinstance(error, (ListenerDeaf, WrongAddress)) or self._database in _warned:
            log.debug("cannot listen on %s, polling: %s", self._channel, error)
            return
        _warned.add(self._database)
        log.warning("%s", DEAF if isinstance(error, ListenerDeaf) else f"{MISLED}: {error} (said once)")
