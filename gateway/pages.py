"""Lists as the gateway answers them: `{"items": [...], "next": "…" | null}`."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Annotated, Generic, TypeVar

import msgspec
from msgspec import Meta

from leasehold.gateway.problems import refuse_field

Item = TypeVar("Item")

LONGEST_CURSOR = 200
LARGEST_PLACE = 2**63 - 1

Cursor = Annotated[
    str,
    Meta(max_length=LONGEST_CURSOR, description="`next` of the page before; the first page where it is left out."),
]
Limit = Annotated[int, Meta(ge=1, le=1000, description="How many items the page has at the most.")]


class Page(msgspec.Struct, Generic[Item], frozen=True):
    """Some items, and the cursor that asks for those that follow; null: there are no more."""

    items: Sequence[Item]
    next: str | None = None


def cursor_at(place: int) -> str:
    """The cursor of the page that begins after this place. Callers are not to look into it."""
    return urlsafe_b64encode(f"1:{place}".encode()).decode().rstrip("=")


def place_of(cursor: str | None) -> int | None:
    """The place that a cursor stands for; None for the first page. Refuses what is no cursor of ours."""
    if cursor is None:
        return None
    try:
        version, _, place = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().partition(":")
        if version == "1" and place.isascii() and abs(int(place)) <= LARGEST_PLACE and cursor_at(int(place)) == cursor:
            return int(place)
    except ValueError:
        pass
    raise refuse_field("query.cursor", "It is no cursor of this service")
