"""The route of the stream of events."""

from __future__ import annotations

from leasehold.gateway.access import Scope
from leasehold.gateway.problems import DATABASE_ERRORS, NOT_READY, TOO_MANY_STREAMS
from leasehold.gateway.routes import Route
from leasehold.gateway.stream import stream_events
from leasehold.gateway.stream_bodies import LAST_EVENT_ID, StreamParameters

STREAM_ROUTES: tuple[Route, ...] = (
    Route(
        method="GET",
        path="/api/events",
        handler=stream_events,
        summary="Stream what happens to jobs, queues and workers, as server-sent events",
        parameters=StreamParameters,
        headers=(LAST_EVENT_ID,),
        response=str,
        media_type="text/event-stream",
        is_raw=True,
        errors=(TOO_MANY_STREAMS, NOT_READY, *DATABASE_ERRORS),
        scope=Scope.READ,
        tags=("events",),
    ),
)
