"""Parameters and bodies of the routes about capacity, and about the jobs of a queue or a key."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from leasehold.capacity.records import CapacityRecord, QueueRates
from leasehold.gateway.http.fields import Key, Name
from leasehold.records.measures import FailureGroup, FleetMeasures, OldestReady, SlowQueue, StuckKey, UnclaimedKind
from leasehold.validation import LONGEST_TIME

TargetWait = Annotated[
    float, Meta(gt=0, le=LONGEST_TIME, description="Seconds within which 95 of 100 jobs should start.")
]
Hours = Annotated[float, Meta(gt=0, le=87_600)]
Count = Annotated[int, Meta(ge=0, le=1_000_000)]
PageSize = Annotated[int, Meta(ge=1, le=100, description="How many jobs at the most.")]
FinalState = Literal["completed", "failed", "cancelled"]


class CapacityParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which queue, and what to assume."""

    queue: Name
    hours: Annotated[list[Hours], Meta(max_length=24, description="In which times to be through: hours=1&hours=8.")] = (
        msgspec.field(default_factory=lambda: [1.0, 4.0, 8.0])
    )
    target_wait: TargetWait = 30.0
    more: Annotated[
        float, Meta(gt=-1, le=1000, description="By which share arrivals might grow: 0.5 is half as many again.")
    ] = 0.5


class WhatIfParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which queue, and what to suppose."""

    queue: Name
    workers: Annotated[Count, Meta(description="How many workers; as many as there are if not given.")] | None = None
    more: Annotated[
        float,
        Meta(ge=-1, le=1000, description="By which share arrivals grow: 0.5 is half as many again, -0.5 half of them."),
    ] = 0.0
    target_wait: TargetWait = 30.0


class HindsightParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which queue, and how far back."""

    queue: Name
    hours: Annotated[float, Meta(gt=0, le=24)] = 1.0


class DesiredParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which queue, and the bounds of the answer."""

    queue: Name
    target_wait: TargetWait = 30.0
    min: Count = 0
    max: Count = 1000
    current: Annotated[Count, Meta(description="How many there are; the answer is then not a little less.")] | None = (
        None
    )
    hysteresis: Annotated[float, Meta(ge=0, lt=1, description="What share of `current` counts as a little.")] = 0.1
    slots: Annotated[int, Meta(ge=1, le=10_000, description="Of one worker.")] | None = None


class DesiredBody(msgspec.Struct, frozen=True):
    """How many workers the queue should have."""

    queue: str
    desired_workers: int


class LastCompletionParameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which queue."""

    queue: Name


class RecentParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which queue, and how many of its jobs."""

    queue: Name
    state: FinalState | None = None
    limit: PageSize = 20


class KeyParameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which key, and how many of its jobs."""

    key: Key
    limit: PageSize = 20


class LastCompletionBody(msgspec.Struct, frozen=True):
    """When a job of the queue completed last; null where none is known."""

    queue: str
    last_completed_at: datetime | None


class QueueHour(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in a queue in the last hour by the minute, oldest first: jobs that came, and that ended."""

    queue: str
    arrivals: list[int]
    ended: list[int]


class OverviewBody(msgspec.Struct, frozen=True, kw_only=True):
    """How everything stands.

    Attributes:
        at: until when the rates count. fleet: the workers and what they hold.
        oldest_ready, unclaimed_kinds: what waits, and what nobody will claim; of these the 50 that wait longest.
        queues, rates: of each queue what it has and can do, and what happened in the last ten minutes.
        hours: minute by minute, of the 50 queues that have most to do.
    """

    at: datetime
    fleet: FleetMeasures
    oldest_ready: Sequence[OldestReady]
    unclaimed_kinds: Sequence[UnclaimedKind]
    queues: Sequence[CapacityRecord]
    rates: Sequence[QueueRates]
    hours: Sequence[QueueHour]


class TroublesBody(msgspec.Struct, frozen=True, kw_only=True):
    """What goes wrong although workers work.

    Attributes:
        failing: what failed most in the last hour, by kind, error and place; five groups at most.
        stuck_keys: keys that one job has held for more than five minutes while others wait; twenty at most.
        slow_queues: queues whose attempts take three times as long as in the two hours before.
    """

    failing: Sequence[FailureGroup]
    stuck_keys: Sequence[StuckKey]
    slow_queues: Sequence[SlowQueue]
