"""Lists as the gateway answers them: `{"items": [...], "next": "…" | null}`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Generic, TypeVar

import msgspec
from msgspec import Meta

Item = TypeVar("Item")

Cursor = Annotated[
    str,
    Meta(pattern="^p[0-7][0-9a-f]{15}$", description="`next` of the page before; the first page where it is left out."),
]
Limit = Annotated[int, Meta(ge=1, le=1000, description="How many items the page has at the most.")]


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
