"""The route of the stream of events."""

from __future__ import annotations

from leasehold.gateway.access.guard import Scope
from leasehold.gateway.http.problems import DATABASE_ERRORS, NOT_READY, TOO_MANY_STREAMS
from leasehold.gateway.resources.events.bodies import LAST_EVENT_ID, StreamParameters
from leasehold.gateway.resources.events.handlers import stream_events
from leasehold.gateway.routing.routes import Route

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
