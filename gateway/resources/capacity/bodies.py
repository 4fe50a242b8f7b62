"""Parameters and bodies of the routes about capacity, and about the jobs of a queue or a key."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from leasehold.gateway.http.fields import Key, Name
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
