"""What the answer of a server says about the identity that asked."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

import msgspec

Outcome = Literal["fine", "refused", "busy", "unreachable"]
LONGEST_SECONDS = 86_400.0


class Fared(msgspec.Struct, frozen=True):
    """How an identity fared, and how many seconds the server wants it to stay away (None: it did not say)."""

    outcome: Outcome
    cool_for: float | None = None


def judge(status: int, headers: Mapping[str, str], now: datetime) -> Fared:
    """Judge one answer. 403: refused. 429, and 503 with Retry-After: busy. 407: the proxy refuses us. All others: fine.

    Args:
        status: of the answer. headers: of the answer, found in any case.
        now: for a Retry-After that is a date.
    """
    cool_for = retry_after(headers.get("Retry-After"), now)
    match status:
        case 403:
            return Fared("refused", cool_for)
        case 407:
            return Fared("unreachable")
        case 429:
            return Fared("busy", cool_for)
        case 503 if cool_for is not None:
            return Fared("busy", cool_for)
        case _:
            return Fared("fine")


def retry_after(text: str | None, now: datetime) -> float | None:
    """Seconds from a Retry-After header, a number or a date; None if it is missing or neither. At most a day."""
    if text is None:
        return None
    if text.strip().isascii() and text.strip().isdigit():
        return min(float(text.strip()), LONGEST_SECONDS)
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return min(max((moment - now).total_seconds(), 0.0), LONGEST_SECONDS)
