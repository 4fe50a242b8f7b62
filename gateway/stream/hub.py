"""One reader of the database for all streams of this gateway, there only while somebody listens.

It reads after a notification and at least every second, but at most four times a second.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from time import monotonic

from leasehold.client.feed.changes import Change, Wanted
from leasehold.client.feed.feed import Feed
from leasehold.client.feed.news import Found, News
from leasehold.client.nouns.changes import Changes
from leasehold.database import Database
from leasehold.errors import LeaseholdError
from leasehold.gateway.stream.wire import Batch, Hide, Outbox, StreamMessage, encode_all, news_messages
from leasehold.notify.asyncio_listener import AsyncioListener
from leasehold.notify.channel import Wake, parse_notice

log = logging.getLogger(__name__)

SHORTEST_PAUSE = 0.25
LONGEST_PAUSE = 1.0
LONGEST_TROUBLE_PAUSE = 10.0
REMIND_SECONDS = 60.0  # between two lines of the log about trouble
MOMENTS = 25
MOST_AT_ONCE = 500
MOST_LAG = timedelta(seconds=30)
MOST_BYTES = 1_048_576  # of messages that a client has not taken yet
MOST_HINTED_BYTES = MOST_BYTES // 16  # of names of queues; anybody may send notifications with names that are none


class Hub:
    """Sends changes to every listener.

    Enter: `listen`; the first listener starts the reader.
    Leave: the end of its block; the last one stops the reader. While the database is away it waits; the feed keeps its
    place. A feed that is half a minute behind continues from now, and listeners get `reset`.

    Attributes:
        cursor: the id after what was told last.
        reads, changes, overflows: since the start: looks at the database, changes found, streams closed as too slow.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self._boxes: set[Outbox] = set()
        self._reading: asyncio.Task[None] | None = None
        self._hint = asyncio.Event()
        self._hinted: set[str] = set()
        self._hinted_bytes = 0
        self._is_closing = False
        self._has_begun = asyncio.Event()
        self.cursor: str | None = None
        self.reads = self.changes = self.overflows = 0

    @contextmanager
    def listen(self, wanted: Wanted, hide: Hide | None = None) -> Generator[Outbox]:
        """A letterbox that is filled from now on. `hide` takes out what its owner is not shown; it is the same for all from whom
        something is hidden."""
        box = Outbox(wanted, MOST_BYTES, self.cursor, hide)
        self._boxes.add(box)
        if self._is_closing:
            box.close()
        elif self._reading is None:
            self._reading = asyncio.create_task(self._read(), name="leasehold stream")
        try:
            yield box
        finally:
            self._boxes.remove(box)
            self.overflows += box.is_overfull
            if not self._boxes and self._reading is not None:
                self._reading.cancel()
                self._reading = None
                self._has_begun.clear()
                self.cursor = None

    async def begun(self, seconds: float) -> bool:
        """Wait until the reader has found its place, so that all later changes are sent. Returns whether it has."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._has_begun.wait()
        return self._has_begun.is_set()

    def close(self) -> None:
        """End every listener."""
        self._is_closing = True
        for box in self._boxes:
            box.close()

    @property
    def streams(self) -> int:
        """How many are open now."""
        return len(self._boxes)

    async def _read(self) -> None:
        async with self.source.open(self._receive, self._hint.set) as (feed, news):
            await self._follow(feed, news)

    async def _follow(self, feed: Feed, news: News) -> None:
        pause, warned_at = SHORTEST_PAUSE, float("-inf")
        while True:
            try:
                changes = await feed.read()
                found = await self._look(news)
                self.reads += 1
                if feed.lag > MOST_LAG:
                    await self._skip(feed)
            except Exception as error:
                pause = min(pause * 2, LONGEST_TROUBLE_PAUSE)
                ours = None if isinstance(error, LeaseholdError) else error
                level = logging.WARNING if monotonic() - warned_at >= REMIND_SECONDS else logging.DEBUG
                warned_at = monotonic() if level == logging.WARNING else warned_at
                log.log(level, "the stream cannot read what happens and tries again: %s", error, exc_info=ours)
                await asyncio.sleep(pause)
                continue
            await self._put_pages(changes, str(feed.cursor))
            if not found.is_empty:
                self._put(partial(news_messages, found))
            pause = SHORTEST_PAUSE if changes or not found.is_empty else min(pause * 2, LONGEST_PAUSE)
            if not feed.is_behind:
                await self._wait(pause)

    async def _look(self, news: News) -> Found:
        """What is no change. Without it the changes go on: a database of the release before has not all of these functions."""
        wanted = {box.wanted for box in self._boxes}
        try:
            return await news.read({each.job_id for each in wanted if each.job_id is not None and each.has_news})
        except LeaseholdError as error:
            log.debug("logs, progress and schedules cannot be read: %s", error)
            return Found()

    def _put(self, messages: Callable[[Wanted], Iterable[StreamMessage]]) -> None:
        """Give each listener its messages, encoded once for all who get the same."""
        encoded: dict[tuple[Wanted, bool], bytes] = {}
        for box in self._boxes:
            if box.sort not in encoded:
                encoded[box.sort] = encode_all(messages(box.wanted), box.hide)
            if encoded[box.sort]:
                box.put(encoded[box.sort])

    async def _wait(self, pause: float) -> None:
        """Wait at least the shortest pause, then until a notification comes or `pause` is over."""
        self._hint.clear()
        await asyncio.sleep(SHORTEST_PAUSE)
        if pause > SHORTEST_PAUSE:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause - SHORTEST_PAUSE):
                    await self._hint.wait()

    async def _let_them_take(self) -> None:
        """While there are many changes, give listeners a moment to read. A listener that does not read overflows soon."""
        for _ in range(MOMENTS):
            if not any(box.is_crowded for box in self._boxes):
                return
            await asyncio.sleep(SHORTEST_PAUSE / MOMENTS)

    async def _skip(self, feed: Feed) -> None:
        log.warning("the stream is %s behind and goes on from now", feed.lag)
        await feed.skip()
        for box in self._boxes:
            box.put(StreamMessage("reset", {"reason": "behind"}).encode())

    async def _put_pages(self, changes: list[Change], cursor: str) -> None:
        """Send many changes in parts, so that they do not overflow listeners that read. Only the last part has the new
        id."""
        while len(changes) > MOST_AT_ONCE:
            self._put_changes(changes[:MOST_AT_ONCE], self.cursor or cursor)
            changes = changes[MOST_AT_ONCE:]
            await self._let_them_take()
        self._put_changes(changes, cursor)
        await self._let_them_take()

    def _put_changes(self, changes: list[Change], cursor: str) -> None:
        self.changes += len(changes)
        queues = {change.queue for change in changes if change.queue is not None} | self._hinted
        self._hinted, self._hinted_bytes = set(), 0
        batch = Batch(changes, sorted(queues), cursor)
        for box in self._boxes:
            box.cursor = cursor
        self._put(batch.messages)
        self.cursor = cursor
        self._has_begun.set()

    def _receive(self, payload: str) -> None:
        """Any notification is a hint; a wake-up names the queue that has got jobs.

        Names beyond what listeners can take are left out: a queue that has really changed is named with its changes.
        """
        notice = parse_notice(payload)
        if isinstance(notice, Wake) and notice.queue is not None and notice.queue not in self._hinted:
            self._hinted_bytes += len(notice.queue.encode("utf-8", "replace"))
            if self._hinted_bytes <= MOST_HINTED_BYTES:
                self._hinted.add(notice.queue)
        self._hint.set()


class Source:
    """Where changes come from, while somebody listens: the database of a client, over one connection for the reader, one for
    replays, and one that listens.

    Args:
        listens: whether to open the last of these.
    """

    def __init__(self, database: Database, changes: Changes, *, listens: bool) -> None:
        self._database = database
        self._changes = changes
        self._listens = listens
        self._one_at_a_time = asyncio.Semaphore(1)

    @asynccontextmanager
    async def open(
        self, receive: Callable[[str], object], missed: Callable[[], object]
    ) -> AsyncGenerator[tuple[Feed, News]]:
        """A feed and its news on a connection of their own, closed with the block; hints come to `receive`, and `missed` says that
        some may have been lost."""
        reserved = self._database.reserve("stream")
        listener = AsyncioListener(self._database, receive, missed)
        if self._listens:
            listener.open()
        try:
            yield self._changes.follow(reserved), self._changes.news(reserved)
        finally:
            await listener.close()
            await reserved.close()

    async def replay(self, since: datetime, until: datetime | None) -> AsyncGenerator[list[Change]]:
        """The changes between two instants. Replays run one at a time, however many clients reconnect at once."""
        async with self._one_at_a_time:
            reserved = self._database.reserve("stream replay")
            try:
                async for page in self._changes.replay(since, until, reserved):
                    yield page
            finally:
                await reserved.close()
