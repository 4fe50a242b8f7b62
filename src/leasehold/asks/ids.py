"""Ids as callers give them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from leasehold.errors import BadInput

LARGEST_ID = 2**63 - 1


def checked_id(given: int) -> int:
    """The id of a job or chain as it goes to the database. Raises BadInput for what no id can be."""
    value = cast("object", given)
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadInput(f"an id is a whole number, not {given!r:.100}")
    if not -LARGEST_ID <= value <= LARGEST_ID:
        raise BadInput(
            f"an id is at most {LARGEST_ID}, not {'one of many more digits' if value.bit_length() > 200 else value}"
        )
    return value


def checked_ids(given: Sequence[int]) -> list[int]:
    """As `checked_id`, for each of them."""
    return [checked_id(each) for each in given]


def checked_before(given: int | None) -> int | None:
    """As `checked_id`, for a page that may be the first."""
    return None if given is None else checked_id(given)
