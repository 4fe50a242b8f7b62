"""What the clock on the wall says, in any time zone: cron expressions, read as Debian's cron reads them.

An expression of five fields that names its minutes and hours (`30 2 * * *`) keeps to the clock on the wall: in the hour that
is left out in spring it fires once, at the first minute after it; in the hour that comes twice in autumn it fires the first
time. One with a `*` in front of either (`*/10 * * * *`, `0 */4 * * *`), or with seconds, fires at every moment at which the
clock shows what it says: not in the hour that is left out, and twice in the one that comes twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

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


def read_time(value: datetime | str) -> datetime:
    """A moment in UTC from RFC 3339 or a datetime; without a zone it counts as UTC. Raises ValueError."""
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
