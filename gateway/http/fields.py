"""What the fields of bodies, parameters and lists have in common."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta

from leasehold import validation

# Postgres counts bytes where these count characters: it may refuse what passes here, never the other way round.
Name = Annotated[str, Meta(min_length=1, max_length=validation.LONGEST_NAME)]
Key = Annotated[str, Meta(min_length=1, max_length=validation.LONGEST_KEY)]
WorkerName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        description="Id, friendly name or incarnation of a worker, or the beginning of one that only it has.",
    ),
]
Integer = Annotated[int, Meta(ge=validation.LEAST_INTEGER, le=validation.MOST_INTEGER)]
Attempts = Annotated[int, Meta(ge=1, le=validation.MOST_ATTEMPTS)]
Delay = Annotated[float, Meta(ge=0, le=validation.LONGEST_TIME)]
Seconds = Annotated[float, Meta(gt=0, le=validation.LONGEST_TIME)]
Id = Annotated[int, Meta(ge=1, le=validation.LARGEST_BIGINT)]
Time = Annotated[datetime, Meta(tz=True)]
Reason = Annotated[str, Meta(max_length=1000, description="For people.")]
Metadata = Annotated[dict[str, Any], Meta(description="Any JSON object.")]
DryRun = Annotated[bool, Meta(description="Only tell what would be done.")]

Item = TypeVar("Item")

Cursor = Annotated[
    str,
    Meta(pattern="^p[0-7][0-9a-f]{15}$", description="`next` of the page before; the first page where it is left out."),
]
Limit = Annotated[int, Meta(ge=1, le=1000, description="How many items the page has at the most.")]


class ById(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which one."""

    id: Id


class Page(msgspec.Struct, Generic[Item], frozen=True):
    """Some items, and the cursor of the next page; null if this is the last page."""

    items: Sequence[Item]
    next: str | None = None


def cursor_at(place: int) -> str:
    """The cursor of the page that begins after this place, 0 to 2**63 - 1. It is opaque to callers."""
    return f"p{place:016x}"


def place_of(cursor: str | None) -> int | None:
    """The place that a cursor stands for; None for the first page. The cursor fits its pattern."""
    return None if cursor is None else int(cursor[1:], 16)
