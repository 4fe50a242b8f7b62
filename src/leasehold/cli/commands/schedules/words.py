"""What a schedule says, in words: when it fires, how it stands, where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from leasehold.cli.views.durations import show_span
from leasehold.cli.views.text import show_instant
from leasehold.schedules.cron import parse_cron
from leasehold.schedules.records import ScheduleRecord

Standing = Literal["enabled", "disabled", "over", "broken", "unplanned"]


def describe_timing(schedule: Mapping[str, Any]) -> str:
    """`every 4h`, `0 3 * * * Europe/Berlin`, `once`: from a definition or the fields of a record."""
    if schedule.get("every") is not None:
        return f"every {show_span(float(schedule['every'])).replace('.0s', 's')}"
    if schedule.get("at") is not None:
        at: datetime | str = schedule["at"]
        return f"once, {show_instant(datetime.fromisoformat(at) if isinstance(at, str) else at)}"
    return f"{schedule['cron']} {schedule.get('zone') or 'UTC'}"


def explain_cron(expression: str) -> str:
    """`At 03:00 every day`."""
    from cronsim.explain import Expression  # noqa: PLC0415

    parts = parse_cron(expression).upper().split()
    return str(Expression(parts if len(parts) == 6 else ["0", *parts]).explain())


def standing_of(schedule: ScheduleRecord) -> Standing:
    """Whether it is going to fire: `over` has no tick to come, `broken` cannot be planned, `unplanned` waits for a scheduler."""
    if not schedule.enabled:
        return "disabled"
    if schedule.planned_revision != schedule.revision:
        return "unplanned"
    if schedule.next_run_at is not None:
        return "enabled"
    return "broken" if schedule.last_error is not None else "over"


def origin_of(schedule: ScheduleRecord) -> str:
    """Where it comes from: `hand`, `code`, `code, changed` where an operator has changed it since, or `orphaned`."""
    if schedule.declared is None:
        return "hand"
    if schedule.orphaned_at is not None:
        return "orphaned"
    return "code, changed" if schedule.overridden else "code"


def describe_blackout(blackout: Mapping[str, Any]) -> str:
    """`sat, sun 22:00-06:00`."""
    days = ", ".join(blackout.get("days") or ())
    joint = " to " if "T" in str(blackout["from"]) else "-"
    return f"{days} {blackout['from']}{joint}{blackout['to']}".strip()


def describe_jobs(schedule: ScheduleRecord) -> str:
    """`clean_up in queue default, priority 5, key shop-7`."""
    told = [f"{schedule.kind} in queue {schedule.queue}"]
    told += [f"priority {schedule.priority}"] if schedule.priority else []
    for name in ("key", "key_group", "max_attempts"):
        value = getattr(schedule, name)
        told += [f"{name.replace('_', ' ')} {value}"] if value is not None else []
    told += [f"timeout {show_span(schedule.timeout)}"] if schedule.timeout is not None else []
    told += ["one for each row of the query"] if schedule.query is not None else []
    return ", ".join(told)


def describe_stagger(schedule: ScheduleRecord) -> str | None:
    """`over 30m in 4 batches`, None where all its jobs are due at once."""
    if not schedule.stagger:
        return None
    return f"over {show_span(schedule.stagger)}" + (f" in {schedule.batches} batches" if schedule.batches else "")


def describe_missed(schedule: ScheduleRecord) -> str:
    """`one for all of them (later than 1m)`."""
    what = {"skip": "skipped", "coalesce": "one for all of them"}.get(
        schedule.missed, f"caught up, at most {schedule.catch_up_limit}"
    )
    return f"{what}; missed is later than {show_span(schedule.grace)}"
