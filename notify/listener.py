"""The LISTEN connection of a process, while it is needed: in a large fleet some listen, and the others poll.

It waits for nothing but the socket and its own check. After a loss it connects again, with back-off, and tells all
subscribers that notices may have been missed.
"""

from __future__ import annotations

import logging
import secrets

import trio

from leasehold.database import Database
from leasehold.database.border import Listening, listen
from leasehold.errors import DatabaseUnavailable, ListenerDeaf
from leasehold.notify.channel import CHANNEL, DEAF, Ping, parse_notice
from leasehold.notify.switchboard import Switchboard

log = logging.getLogger(__name__)

CHECK_SECONDS = 60.0
ANSWER_SECONDS = 5.0
DEAF_SECONDS = 300.0


class Listener:
    """Hears the channel and hands each notice to the switchboard."""

    name = "listener"

    def __init__(self, database: Database, switchboard: Switchboard) -> None:
        self._database = database
        self._switchboard = switchboard
        self._nonsense_seen = False
        self._is_deafness_logged = False
        self._token = ""
        self._heard_at = 0.0
        self._came_back = trio.Event()

    async def run(self) -> None:
        """Listen until cancelled, while the switchboard is needed; behind a pooler that keeps notifications away, try again
        every five minutes.

        Raises DatabaseUnavailable when the connection is lost or does not hear its own notifications.
        """
        while True:
            while not self._switchboard.is_needed:
                await self._switchboard.moved.wait()
            try:
                await self._listen()
            except ListenerDeaf:
                if not self._is_deafness_logged:
                    self._is_deafness_logged = True
                    log.warning(DEAF)
                await trio.sleep(DEAF_SECONDS)

    async def _listen(self) -> None:
        """Until others are to listen; they all look once more, since from here on notices are missed."""
        try:
            async with listen(self._database, CHANNEL) as listening, trio.open_nursery() as nursery:
                nursery.start_soon(self._check, listening)
                nursery.start_soon(self._read, listening)
                while self._switchboard.is_needed:
                    await self._switchboard.moved.wait()
                nursery.cancel_scope.cancel()
        finally:
            self._switchboard.listening = False
        self._switchboard.publish_reconnect()

    async def _read(self, listening: Listening) -> None:
        async for payload in listening.payloads:
            self._heard_at = trio.current_time()
            notice = parse_notice(payload)
            if notice is None:
                self._report_nonsense(payload)
            elif isinstance(notice, Ping):
                if notice.token == self._token:
                    self._came_back.set()
            else:
                self._switchboard.publish(notice)
        raise DatabaseUnavailable("the listening connection was lost")

    async def _check(self, listening: Listening) -> None:
        self._token = secrets.token_hex(8)
        self._came_back = trio.Event()
        await listening.notify(CHANNEL, f"ping:{self._token}", ANSWER_SECONDS)
        with trio.move_on_after(ANSWER_SECONDS) as scope:
            await self._came_back.wait()
        if scope.cancelled_caught:
            raise DatabaseUnavailable(
                "this connection does not hear its own notifications; is a pooler in front? "
                "Listen over a direct connection, or set LEASEHOLD_NOTIFY=off"
            )
        self._switchboard.listening = True
        self._switchboard.publish_reconnect()
        while True:
            await self._rest()
            await listening.check(CHANNEL, ANSWER_SECONDS)

    async def _rest(self) -> None:
        """Until nothing was heard for `CHECK_SECONDS`, or a poll has found what should have been heard."""
        while (rest := self._heard_at + CHECK_SECONDS - trio.current_time()) > 0:
            if await self._switchboard.doubted.wait(rest):
                break
        self._heard_at = trio.current_time()

    def _report_nonsense(self, payload: str) -> None:
        if not self._nonsense_seen:
            self._nonsense_seen = True
            log.warning("ignoring a notification that nobody understands: %r (said once)", payload[:100])
