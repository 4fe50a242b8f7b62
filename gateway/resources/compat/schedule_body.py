"""What task workers' clients send of a schedule: a part of it, in their words or in ours."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from leasehold.gateway.http.fields import Name
from leasehold.gateway.resources.schedules.bodies import ScheduleName
from leasehold.schedules.definition import ScheduleChange
from leasehold.validation import LONGEST_TIME

HOUR = 3600
Hours = Annotated[
    float,
    Meta(ge=1 / HOUR, le=LONGEST_TIME / HOUR, description="Hours from tick to tick; ours is `every`, in seconds."),
]
StateCode: Any = Annotated[str, Meta(min_length=1, max_length=200, description="Stands as `state_code` in the args.")]
THEIRS: tuple[tuple[str, Any, Any], ...] = (
    ("name", ScheduleName | UnsetType, UNSET),
    ("role", Annotated[Name, Meta(description="Kind and queue.")] | UnsetType, UNSET),
    ("interval_hours", Hours | UnsetType, UNSET),
    ("state_code", StateCode | None | UnsetType, UNSET),
)

TaskScheduleBody = msgspec.defstruct(
    "TaskScheduleBody",
    [*((field.name, field.type, UNSET) for field in msgspec.structs.fields(ScheduleChange)), *THEIRS],
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    module=__name__,
    namespace={
        "__doc__": "What of a schedule is to change; what is left out stays. A body with `name` and `kind` is no part, but the "
        "whole definition, as in `/openapi.json`."
    },
)
