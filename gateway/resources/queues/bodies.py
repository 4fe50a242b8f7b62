"""Request and response bodies of `/api/queues…`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from leasehold.capacity.records import Rollup
from leasehold.gateway.http.fields import Name
from leasehold.gateway.http.pages import Cursor, Limit, Page
from leasehold.gateway.resources.jobs.bodies import Reason, Time

GROUP = (
    "Empty: the queue as a whole. `*`: each key group of it. Else this one group, which is then free of what `*` says."
)
KeyGroup = Annotated[str, Meta(max_length=500, description=GROUP)]


class QueueParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which queue."""

    queue: Name


class PauseParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which queue, and why."""

    queue: Name
    reason: Reason | None = None


class GroupParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which limit of which queue."""

    queue: Name
    key_group: KeyGroup = ""


class GroupsParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of which queue, and how many."""

    queue: Name
    limit: Limit = 50


class QueueHistoryParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of which queue, how far back, and in how many steps."""

    queue: Name
    hours: Annotated[float, Meta(gt=0, le=720)] = 1.0
    points: Annotated[int, Meta(ge=1, le=500, description="None is shorter than a minute.")] = 60


class RollupParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of which queue, and of when."""

    queue: Name
    since: Annotated[Time, Meta(description="Minutes that began then or later; the last hour if not given.")] | None = (
        None
    )
    until: Annotated[Time, Meta(description="Minutes that began earlier.")] | None = None
    cursor: Cursor | None = None
    limit: Limit = 1000


class RollupsBody(Page[Rollup], frozen=True, kw_only=True):
    """What happened minute by minute. `bounds` are the upper ones of `waits` and `runs`, in seconds."""

    bounds: Sequence[float]


class LimitBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many jobs may run at once, and how many may start in a second."""

    __schema__: ClassVar[Mapping[str, Any]] = {
        "anyOf": [
            {
                "required": ["max_running"],
                "properties": {"max_running": {"type": "integer"}, "burst": {"type": "null"}},
            },
            {"required": ["rate"], "properties": {"rate": {"type": "number"}}},
        ]
    }

    key_group: KeyGroup = ""
    max_running: Annotated[int, Meta(ge=0, le=2**31 - 1, description="How many may be held at once.")] | None = None
    rate: Annotated[float, Meta(gt=0, le=1e6, description="How many may start in a second on the long run.")] | None = (
        None
    )
    burst: Annotated[int, Meta(ge=1, le=2**31 - 1, description="How many may start at once.")] | None = None


class AgeingBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the jobs of a queue age."""

    every: (
        Annotated[float, Meta(ge=1, le=2_592_000, description="Seconds that a job waits for one more priority.")] | None
    )


class AgedBody(msgspec.Struct, frozen=True):
    """How the queue is now, and whether this call changed it."""

    queue: str
    every: float | None
    changed: bool


class PausedBody(msgspec.Struct, frozen=True):
    """How the queue is now, and whether this call changed it."""

    queue: str
    paused: bool
    changed: bool


class LimitedBody(msgspec.Struct, frozen=True):
    """Whether the call changed anything."""

    changed: bool
