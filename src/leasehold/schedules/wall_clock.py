"""What the clock on the wall says, in any time zone: cron expressions, read as Debian's cron reads them, and blackouts.

An expression of five fields that names its minutes and hours (`30 2 * * *`) keeps to the clock on the wall: in the hour that
is left out in spring it fires once, at the first minute after it; in the hour that comes twice in autumn it fires the first
time. One with a `*` in front of either (`*/10 * * * *`, `0 */4 * * *`), or with seconds, fires at every moment at which the
clock shows what it says: not in the hour that is left out, and twice in the one that comes twice.

Blackouts are windows in which a schedule does not fire: times of the day, on some days or all, and single stretches of time. When
clocks go back, a window may close early and open a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
from cronsim import CronSim, CronSimError

from leasehold.errors import BadInput

ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
LONGEST = 500
SOME_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY_MINUTES = 24 * 60


def parse_cron(text: str) -> str:
    """The expression with aliases replaced and single spaces, in five fields where its seconds are 0. Raises BadInput."""
    fields = ALIASES.get(text.strip().lower(), text).split()
    if len(fields) == 1 and fields[0].startswith("@"):
        raise BadInput(f"there is no cron alias {text!r}; there are: {', '.join(ALIASES)}")
    if len(fields) == 6 and fields[0] == "0":
        del fields[0]
    expression = " ".join(fields)
    if len(expression) > LONGEST:
        raise BadInput(f"a cron expression must have at most {LONGEST} characters, not {len(expression)}")
    try:
        next(CronSim(expression, SOME_MOMENT))
    except (CronSimError, AssertionError, ValueError) as error:
        raise BadInput(f"cron expression {text!r}: {str(error) or 'cannot be read'}") from error
    except StopIteration:
        raise BadInput(f"cron expression {text!r} never fires") from None
    return expression


@lru_cache(maxsize=256)
def find_zone(name: str) -> ZoneInfo:
    """The IANA time zone of this name. Raises BadInput."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise BadInput(f"there is no time zone {name!r}; names are such as Europe/Berlin") from error


def cron_ticks(expression: str, zone: ZoneInfo, after: datetime) -> Iterator[datetime]:
    """The moments (in UTC, rising) at which an expression from `parse_cron` fires, later than `after`; none after 50 years
    without one."""
    # In the hour that comes twice, the local time of `after` may lie before a tick that was earlier.
    last = after
    try:
        for tick in CronSim(expression, after.astimezone(zone if zone.key != "UTC" else UTC)):
            moment = tick.astimezone(UTC)
            if moment > last:
                last = moment
                yield moment
    except OverflowError:  # the end of the calendar
        return


def is_real(moment: datetime) -> bool:
    """Whether clocks of its zone ever show this local time."""
    return moment == moment.astimezone(UTC).astimezone(moment.tzinfo)


def from_wall(local: datetime) -> datetime:
    """The moment at which clocks first show this local time, or the first one after it that they show."""
    while not is_real(local):
        local += timedelta(minutes=1)
    return local.astimezone(UTC)


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
