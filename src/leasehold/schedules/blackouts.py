"""Windows in which a schedule does not fire: times of the day, on some days or all, and single stretches of time.

A time of the day is what the clock on the wall shows: when clocks go back, a window may open a second time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from leasehold.errors import BadInput
from leasehold.schedules.cron import from_wall

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_MINUTES = 24 * 60


class DailyBlackout(msgspec.Struct, frozen=True):
    """From one minute of the day until another, which is on the next day where it is not later; `days` are those it begins on."""

    start: int
    end: int
    days: frozenset[int]

    def end_at(self, moment: datetime, zone: ZoneInfo) -> datetime | None:
        """When the window that `moment` lies in ends; None where it lies in none."""
        local = moment.astimezone(zone)
        minute = local.hour * 60 + local.minute
        end = self.end if self.end > self.start else self.end + DAY_MINUTES
        for days_ago in (0, 1):
            begun = local.date() - timedelta(days=days_ago)
            if begun.weekday() in self.days and self.start <= minute + days_ago * DAY_MINUTES < end:
                wall = datetime(begun.year, begun.month, begun.day) + timedelta(minutes=end)
                ended = from_wall(wall.replace(tzinfo=zone))
                # The clock went back meanwhile: that end is over, and the window is open once more.
                return ended if ended > moment else from_wall(wall.replace(tzinfo=zone, fold=1))
        return None


class SingleBlackout(msgspec.Struct, frozen=True):
    """From one moment until another."""

    start: datetime
    end: datetime

    def end_at(self, moment: datetime, _zone: ZoneInfo) -> datetime | None:
        """When it ends, if `moment` lies in it."""
        return self.end if self.start <= moment < self.end else None


Blackout = DailyBlackout | SingleBlackout


def parse_blackouts(documents: Sequence[Mapping[str, Any]]) -> tuple[Blackout, ...]:
    """From the form in which a definition has them. Raises BadInput."""
    try:
        return tuple(_parse(document) for document in documents)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise BadInput(f"blackouts cannot be read: {documents!r}") from error


def _parse(document: Mapping[str, Any]) -> Blackout:
    start, end = document["from"], document["to"]
    if len(start) == len("22:00"):
        days = frozenset(DAYS.index(day) for day in document.get("days", DAYS))
        return DailyBlackout(_minute(start), _minute(end), days)
    return SingleBlackout(read_time(start), read_time(end))


def _minute(text: str) -> int:
    hours, minutes = text.split(":")
    return int(hours) * 60 + int(minutes)


def read_time(value: datetime | str) -> datetime:
    """A moment in UTC from RFC 3339 or a datetime; without a zone it counts as UTC. Raises ValueError."""
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
