"""Spans and instants as people type them; how they are shown is in `leasehold.observability.wording`."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from leasehold.errors import BadInput
from leasehold.observability.wording import show_span

__all__ = ["parse_duration", "parse_instant", "show_span"]

UNITS = {"": 1, "ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|)")


def parse_duration(text: str) -> timedelta:
    """`90`, `90s`, `1h30m`, `500ms`, `2d` as a span. Raises BadInput."""
    parts = _PART.findall(text)
    is_whole = "".join(number + unit for number, unit in parts) == text
    if not parts or not is_whole or (len(parts) > 1 and any(not unit for _, unit in parts)):
        raise BadInput(f"{text!r} is no duration; write for example 30s, 5m, 1h30m or 2d")
    try:
        return timedelta(seconds=sum(float(number) * UNITS[unit] for number, unit in parts))
    except OverflowError as error:
        raise BadInput(f"the duration {text!r} is too long") from error


def parse_instant(text: str) -> datetime:
    """An ISO 8601 instant with its offset from UTC. Raises BadInput."""
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadInput(f"{text!r} is no instant; write for example 2030-01-31T09:30:00Z") from error
    if instant.tzinfo is None:
        raise BadInput(f"{text!r} does not say where; end it with Z or an offset such as +02:00")
    return instant
