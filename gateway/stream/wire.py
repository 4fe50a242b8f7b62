"""Server-sent events as bytes, and which changes make which messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

import msgspec

from leasehold.client.feed.changes import Change, Wanted
from leasehold.client.feed.news import Found
from leasehold.gateway.http.replies import ENCODER

MOST_CHANGES = 200  # in one message


class StreamMessage(msgspec.Struct, frozen=True):
    """One server-sent event. Clients send `id` back as Last-Event-ID when they reconnect."""

    event: str
    data: object
    id: str | None = None

    def encode(self) -> bytes:
        """As it goes over the wire."""
        parts = [f"event: {self.event}\n".encode(), b"data: ", ENCODER.encode(self.data), b"\n"]
        if self.id is not None:
            parts.insert(0, f"id: {self.id}\n".encode())
        return b"".join([*parts, b"\n"])


OPENING = b"retry: 3000\n\n"
"""The beginning of a stream: how many milliseconds a client waits before it reconnects."""


def heartbeat(cursor: str | None) -> bytes:
    """A comment, and the id of what has been told so far: an event without data, which clients note and do not show."""
    return b": heartbeat\n" + (f"id: {cursor}\n".encode() if cursor else b"") + b"\n"


Hide = Callable[[object], object]
"""Takes out of a message what its listener is not shown."""


def encode_all(messages: Iterable[StreamMessage], hide: Hide | None) -> bytes:
    """Messages as they go over the wire to a listener from whom something is hidden, or (None) nothing."""
    if hide is not None:
        messages = [msgspec.structs.replace(each, data=hide(each.data)) for each in messages]
    return b"".join(each.encode() for each in messages)


class Batch(msgspec.Struct, frozen=True, eq=False):
    """The changes that one read has found.

    Attributes:
        changes: in their order. queues: whose jobs have changed. cursor: the id after all of it.
    """

    changes: Sequence[Change]
    queues: Sequence[str]
    cursor: str

    def messages(self, wanted: Wanted) -> list[StreamMessage]:
        """The messages for a listener with this filter; the last one has the id."""
        found = [*self._change_messages(wanted), *self._queue_messages(wanted)]
        if found:
            found[-1] = msgspec.structs.replace(found[-1], id=self.cursor)
        return found

    def _change_messages(self, wanted: Wanted) -> Iterator[StreamMessage]:
        changes = [change for change in self.changes if wanted.has(change)]
        for first in range(0, len(changes), MOST_CHANGES):
            yield StreamMessage("changes", changes[first : first + MOST_CHANGES])

    def _queue_messages(self, wanted: Wanted) -> Iterator[StreamMessage]:
        queues = [queue for queue in self.queues if not wanted.queues or queue in wanted.queues]
        if queues and not wanted.is_about_jobs:
            yield StreamMessage("queues", queues)


def news_messages(found: Found, wanted: Wanted) -> Iterator[StreamMessage]:
    """The messages of what is no change, for a listener with this filter: log and progress of the job that it looks at, or
    the schedules. They have no id: nobody can have them sent again."""
    if not wanted.has_news:
        return
    if wanted.job_id is None:
        if found.schedules:
            yield StreamMessage("schedules", found.schedules)
        return
    if lines := [each for each in found.lines if each.job_id == wanted.job_id]:
        yield StreamMessage("logs", lines)
    if advances := [each for each in found.advances if each.job_id == wanted.job_id]:
        yield StreamMessage("progress", advances)


class Outbox:
    """The messages that one client has not read yet. If one does not fit, all are dropped and the letterbox is closed.

    Args:
        wanted: what is put into it.
        most_bytes: of messages not taken.
        hide: what takes out of messages what this client is not shown; None: it is shown all.

    Attributes:
        cursor: the id after what was told last, whether or not it was wanted.
        is_overfull, is_closing: nothing will come any more, because it was full, or because the gateway stops.
    """

    def __init__(self, wanted: Wanted, most_bytes: int, cursor: str | None, hide: Hide | None = None) -> None:
        self.wanted = wanted
        self.hide = hide
        self.cursor = cursor
        self.is_overfull = False
        self.is_closing = False
        self._most_bytes = most_bytes
        self._messages: list[bytes] = []
        self._size = 0
        self._filled = asyncio.Event()

    @property
    def sort(self) -> tuple[Wanted, bool]:
        """The same for all that get the same messages."""
        return self.wanted, self.hide is not None

    def put(self, message: bytes) -> None:
        """Keep a message until it is taken."""
        if self.is_overfull:
            return
        self._size += len(message)
        self._messages.append(message)
        if self._size > self._most_bytes:
            self.is_overfull = True
            self._messages.clear()
        self._filled.set()

    @property
    def is_crowded(self) -> bool:
        """Whether it is half full, so that the writer should wait a moment."""
        return not self.is_overfull and self._size > self._most_bytes // 2

    def close(self) -> None:
        """Say that the gateway stops."""
        self.is_closing = True
        self._filled.set()

    async def wait(self, seconds: float) -> None:
        """Wait at most `seconds` for messages or for the end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._filled.wait()
        self._filled.clear()

    def take(self) -> bytes:
        """Everything that is there, in one piece."""
        taken = b"".join(self._messages)
        self._messages.clear()
        self._size = 0
        return taken
