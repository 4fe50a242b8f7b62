"""Parameters and data of the stream of events."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from leasehold.client.feed.changes import Wanted, refuse_unknown_events
from leasehold.gateway.http.fields import LARGEST_BIGINT

LAST_EVENT_ID = "Last-Event-ID"

Names = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=200)], ...], Meta(max_length=100)]
AnId = Annotated[int, Meta(ge=1, le=LARGEST_BIGINT)]


class StreamParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which changes to send; all if nothing is given. Several queues, kinds and events are separated by commas.

    Attributes:
        event: words such as `job_failed`. after: as Last-Event-ID, for clients that cannot send headers.
    """

    queue: Names = ()
    kind: Names = ()
    event: Names = ()
    job_id: AnId | None = None
    chain_id: AnId | None = None
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
