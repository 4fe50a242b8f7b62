"""Request and response bodies of `/api/chains…`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from leasehold.gateway.http.fields import LARGEST_BIGINT
from leasehold.gateway.http.pages import Cursor, Limit
from leasehold.gateway.resources.jobs.enqueue_bodies import JobBody

LONGEST_POLL = 60.0

Id = Annotated[int, Meta(ge=1, le=LARGEST_BIGINT)]


class CompletionBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the open job of a chain ends: with an output, or with the job that continues the chain."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "anyOf": [
            {"properties": {"next": {"type": "null"}, "jobs": {"maxItems": 0}}},
            {"required": ["next"], "properties": {"next": {"not": {"type": "null"}}, "output": {"type": "null"}}},
        ]
    }

    output: Annotated[Any, Meta(description="Any JSON; of the chain, where it ends here.")] = None
    next: Annotated[JobBody, Meta(description="The job that continues the chain.")] | None = None
    jobs: Annotated[
        list[JobBody],
        Meta(max_length=1000, description="Begin chains of their own in the same commit; only with `next`."),
    ] = []


class CompletedBody(msgspec.Struct, frozen=True):
    """Ids of the jobs that were made; the one that continues the chain is the last."""

    new_ids: Sequence[int]


class CancelledBody(msgspec.Struct, frozen=True):
    """The state that the cancelled job was in."""

    was: str


class DeletedBody(msgspec.Struct, frozen=True):
    """Ids of the chains that were removed."""

    deleted: Sequence[int]


class ChainParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which chain."""

    id: Id


class ChainsParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which chains: by their state, and by kind and queue of their first job."""

    state: Literal["open", "completed", "failed", "cancelled"] | None = None
    kind: str | None = None
    queue: str | None = None
    cursor: Cursor | None = None
    limit: Limit = 50


class ChainJobsParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which chain, and which of its jobs."""

    id: Id
    cursor: Cursor | None = None
    limit: Limit = 50


class GraphParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which chain, and how much of what it has to do with."""

    id: Id
    limit: Annotated[int, Meta(ge=1, le=10_000, description="How many chains at the most.")] = 2000


class CancelParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which chain, and why."""

    id: Id
    reason: Annotated[str, Meta(max_length=1000)] | None = None


class DeleteParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which chain, and whether also the chains that it waits or waited for."""

    id: Id
    cascade: bool = False


class WaitParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which chain, and how long to wait for its end."""

    id: Id
    seconds: Annotated[float, Meta(ge=0, le=LONGEST_POLL)] = 30.0
