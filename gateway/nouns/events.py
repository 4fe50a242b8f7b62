"""`/api/events`: a stream of server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import datetime
from time import monotonic
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from leasehold.client.feed.changes import Wanted, instant_of, refuse_unknown_events
from leasehold.client.feed.feed import LONGEST
from leasehold.errors import LeaseholdError
from leasehold.gateway.access.identities import Scope
from leasehold.gateway.http.fields import Id
from leasehold.gateway.http.problems import DATABASE_UNAVAILABLE, TOO_MANY_STREAMS, Refusal
from leasehold.gateway.http.replies import PLAIN, hang_up
from leasehold.gateway.routing.routes import Call, Routes
from leasehold.gateway.stream.hub import Hub
from leasehold.gateway.stream.wire import OPENING, Batch, Outbox, StreamMessage, encode_all, heartbeat

LAST_EVENT_ID = "Last-Event-ID"

Names = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=200)], ...], Meta(max_length=100)]


class StreamParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which changes to send; all if nothing is given. Several queues, kinds and events are separated by commas.

    Attributes:
        event: words such as `job_failed`. after: as Last-Event-ID, for clients that cannot send headers.
    """

    queue: Names = ()
    kind: Names = ()
    event: Names = ()
    job_id: Id | None = None
    chain_id: Id | None = None
    after: Annotated[str, Meta(max_length=100)] | None = None

    def wanted(self) -> Wanted:
        """As a filter of changes. Raises BadInput for an unknown event."""
        refuse_unknown_events(self.event)
        return Wanted(events=self.event, queues=self.queue, kinds=self.kind, job_id=self.job_id, chain_id=self.chain_id)


class ReadyBody(msgspec.Struct, frozen=True):
    """From now on every change is sent. `resumed`: every change since the id that the client gave was sent, too."""

    resumed: bool


class StreamEndBody(msgspec.Struct, frozen=True):
    """Why the stream ends, or begins anew.

    Of `reset`: unknown_id, too_old, too_much, behind, database_unavailable. Of `overflow`: too_slow. Of `closing`: stopping,
    revoked.
    """

    reason: str


HEARTBEAT_SECONDS = 15.0
LOOK_SECONDS = 1.0  # for whether the client is still there
WRITE_SECONDS = 10.0
LAST_MESSAGE_SECONDS = 1.0
BEGIN_SECONDS = 5.0
LONGEST_ID = 17
MOST_STREAMS = 500
MOST_REPLAYED = 5_000
MOST_READ = 50_000
HEADERS = {**PLAIN, "Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}


routes = Routes("events")


@routes(
    "GET",
    "/api/events",
    "Stream what happens to jobs, queues and workers, as server-sent events",
    headers=(LAST_EVENT_ID,),
    response=str,
    media_type="text/event-stream",
    is_raw=True,
    errors=(TOO_MANY_STREAMS,),
    scope=Scope.READ,
)
async def stream_events(call: Call[StreamParameters, None], request: web.Request) -> web.StreamResponse:
    """A stream sends every change from its `ready` on and, after a reconnect, every change since the Last-Event-ID, at
    least once. A change is identified by its event, job_id, attempt and at. If more than a quarter of an hour or too many
    changes were missed, it sends `reset`: load again what you show."""
    hub = call.services.stream
    if hub.streams >= MOST_STREAMS:
        raise Refusal(TOO_MANY_STREAMS, f"{MOST_STREAMS} streams are open; try again later.")
    response = web.StreamResponse(headers=HEADERS)
    if request.method == "HEAD":
        return response
    parameters = call.parameters
    hiding = call.services.hiding
    with hub.listen(parameters.wanted(), hiding.answer if hiding.concerns(call.identity) else None) as box:
        if not await hub.begun(BEGIN_SECONDS):
            raise Refusal(DATABASE_UNAVAILABLE)
        box.cursor = box.cursor or hub.cursor
        await response.prepare(request)
        try:
            await _write(response, OPENING)
            async for message in _beginning(hub, box, call.headers.get(LAST_EVENT_ID) or parameters.after):
                await _write(response, message)
            await _follow(request, response, box, call.is_admitted)
        except (ConnectionError, TimeoutError):
            hang_up(request)
    return response


async def _follow(
    request: web.Request, response: web.StreamResponse, box: Outbox, is_admitted: Callable[[], Awaitable[bool]]
) -> None:
    """Write messages until the client has gone or is too slow, its token is revoked, or the gateway stops."""
    beat_at = monotonic() + HEARTBEAT_SECONDS
    while not _has_gone(request):
        await box.wait(LOOK_SECONDS)
        if not await is_admitted():
            await _write(response, StreamMessage("closing", StreamEndBody("revoked")).encode(), LAST_MESSAGE_SECONDS)
            return
        if box.is_overfull:
            await _write(response, StreamMessage("overflow", StreamEndBody("too_slow")).encode(), LAST_MESSAGE_SECONDS)
            return
        if message := box.take() or (heartbeat(box.cursor) if monotonic() >= beat_at else b""):
            await _write(response, message)
            beat_at = monotonic() + HEARTBEAT_SECONDS
        if box.is_closing:
            await _write(response, StreamMessage("closing", StreamEndBody("stopping")).encode(), LAST_MESSAGE_SECONDS)
            return


async def _beginning(hub: Hub, box: Outbox, last_id: str | None) -> AsyncGenerator[bytes]:
    """What the client has missed since its last event, or `reset`; then `ready`."""
    reason = None
    if last_id is not None:
        try:
            async for batch in _missed(hub, box, last_id):
                yield encode_all(batch.messages(box.wanted), box.hide)
        except _Unreachable as error:
            reason = str(error)
    if reason is not None:
        yield StreamMessage("reset", StreamEndBody(reason)).encode()
    yield StreamMessage("ready", ReadyBody(last_id is not None and reason is None), box.cursor).encode()


class _Unreachable(Exception):
    """Why a stream cannot go on where its client was, in a word."""


async def _missed(hub: Hub, box: Outbox, last_id: str) -> AsyncGenerator[Batch]:
    since = _instant_of(last_id, instant_of(int(box.cursor or 0)))
    read = sent = 0
    try:
        async for page in hub.source.replay(since, None):
            read += len(page)
            sent += sum(map(box.wanted.has, page))
            if read > MOST_READ or sent > MOST_REPLAYED:
                raise _Unreachable("too_much")
            queues = {change.queue for change in page if change.queue is not None}
            yield Batch(page, sorted(queues), last_id)
    except LeaseholdError:
        raise _Unreachable("database_unavailable") from None


def _instant_of(last_id: str, present: datetime) -> datetime:
    """The time that a stream's id stands for."""
    if not (last_id.isascii() and last_id.isdecimal() and len(last_id) <= LONGEST_ID):
        raise _Unreachable("unknown_id")
    since = instant_of(int(last_id))
    if since > present + LONGEST:
        raise _Unreachable("unknown_id")
    if since < present - LONGEST:
        raise _Unreachable("too_old")
    return since


async def _write(response: web.StreamResponse, message: bytes, seconds: float = WRITE_SECONDS) -> None:
    """Raises TimeoutError when the client does not take it."""
    async with asyncio.timeout(seconds):
        await response.write(message)


def _has_gone(request: web.Request) -> bool:
    """Whether the client has closed its connection. While nothing is written, no error would tell."""
    return request.transport is None or request.transport.is_closing()
