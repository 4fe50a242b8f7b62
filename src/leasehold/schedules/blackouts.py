"""Windows in which a schedule does not fire: times of the day, on some days or all, and single stretches of time.

A time of the day is what the clock on the wall shows: when clocks go back, a window may close early and open a second time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
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
        begun = self._begun(moment, zone)
        if begun is None:
            return None
        wall = datetime(begun.year, begun.month, begun.day) + timedelta(minutes=self._end)
        ended = from_wall(wall.replace(tzinfo=zone))
        if ended <= moment:  # the clock went back since that end, and the window is open once more
            ended = from_wall(wall.replace(tzinfo=zone, fold=1))
        back = _clock_goes_back(moment, ended, zone)
        return ended if back is None or self._begun(back, zone) else back

    @property
    def _end(self) -> int:
        """The minute of its end, counted from the midnight before its begin."""
        return self.end if self.end > self.start else self.end + DAY_MINUTES

    def _begun(self, moment: datetime, zone: ZoneInfo) -> date | None:
        """The day on which the window that `moment` lies in began; None where it lies in none."""
        local = moment.astimezone(zone)
        minute = local.hour * 60 + local.minute
        for days_ago in (0, 1):
            begun = local.date() - timedelta(days=days_ago)
            if begun.weekday() in self.days and self.start <= minute + days_ago * DAY_MINUTES < self._end:
                return begun
        return None


def _clock_goes_back(start: datetime, end: datetime, zone: ZoneInfo) -> datetime | None:
    """When clocks of the zone go back between two moments, to the second; None where they do not."""
    offset = start.astimezone(zone).utcoffset() or timedelta()
    if (end.astimezone(zone).utcoffset() or timedelta()) >= offset:
        return None
    before, after = int(start.timestamp()), int(end.timestamp())
    while after - before > 1:
        middle = (before + after) // 2
        if (datetime.fromtimestamp(middle, zone).utcoffset() or timedelta()) < offset:
            after = middle
        else:
            before = middle
    return datetime.fromtimestamp(after, UTC)


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
