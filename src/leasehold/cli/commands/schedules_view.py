"""How schedules and their ticks look, and what they say in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import msgspec
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.views import ago, ahead, fields_table, plain, table
from leasehold.observability.wording import show_instant, show_span
from leasehold.records.jobs import KeyedJob
from leasehold.schedules.records import FiredTick, NextTick, ScheduleRecord, TickRecord

Standing = Literal["enabled", "disabled", "over", "broken", "unplanned"]


def describe_timing(schedule: Mapping[str, Any]) -> str:
    """`every 4h`, `0 3 * * * Europe/Berlin`, `once`: from a definition or the fields of a record."""
    if schedule.get("every") is not None:
        return f"every {show_span(float(schedule['every'])).replace('.0s', 's')}"
    if schedule.get("at") is not None:
        at: datetime | str = schedule["at"]
        return f"once, {show_instant(datetime.fromisoformat(at) if isinstance(at, str) else at)}"
    return f"{schedule['cron']} {schedule.get('zone') or 'UTC'}"


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


def describe_jobs(schedule: ScheduleRecord) -> str:
    """`clean_up in queue default, priority 5, key shop-7`."""
    pieces = [f"{schedule.kind} in queue {schedule.queue}"]
    pieces += [f"priority {schedule.priority}"] if schedule.priority else []
    for name in ("key", "key_group", "max_attempts"):
        value = getattr(schedule, name)
        pieces += [f"{name.replace('_', ' ')} {value}"] if value is not None else []
    pieces += [f"timeout {show_span(schedule.timeout)}"] if schedule.timeout is not None else []
    pieces += ["one for each row of the query"] if schedule.query is not None else []
    return ", ".join(pieces)


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


NAMED = 20
UNPLANNED = ", waits for a scheduler: leasehold run scheduler"
OUTCOMES = {"fired": "green", "skipped": "yellow", "failed": "bold red"}
STANDINGS = {"disabled": "dim", "over": "dim", "broken": "bold red"}
ORIGINS = {"orphaned": "bold yellow", "code, changed": "yellow"}
NOTES = {
    "moved": "its time is skipped: moved",
    "repeated": "its time comes twice: the first",
    "repeated_again": "its time comes twice: the second",
}


class ScheduleReport(msgspec.Struct, frozen=True, kw_only=True):
    """One schedule, its next ticks, and what became of the last ones."""

    schedule: ScheduleRecord
    next_ticks: list[NextTick]
    history: list[TickRecord]


class PreviewReport(msgspec.Struct, frozen=True, kw_only=True):
    """Ticks that are to come.

    `enabled`: whether they are going to fire. `rows`: the first ones of the query, where they were asked for.
    """

    schedule: str | None
    timing: str
    enabled: bool
    ticks: list[NextTick]
    rows: list[dict[str, Any]] = []


def view_schedules(schedules: list[ScheduleRecord], now: datetime) -> Sequence[RenderableType]:
    """One line per schedule."""
    rows = [
        [
            plain(each.name),
            plain(describe_timing(msgspec.structs.asdict(each))),
            plain(each.kind),
            _next(each, now),
            _last(each, now),
            Text(origin_of(each), ORIGINS.get(origin_of(each), "dim")),
        ]
        for each in schedules
    ]
    return [table(["schedule", "when", "kind", "next", "last", "from"], rows)]


def view_created(made: ScheduleRecord | PreviewReport, now: datetime) -> Sequence[RenderableType]:
    """The schedule in one line, or the ticks that it would have."""
    return view_preview(made, now) if isinstance(made, PreviewReport) else view_schedules([made], now)


def view_schedule(report: ScheduleReport, now: datetime) -> Sequence[RenderableType]:
    """What it is, what it makes, its next ticks and its last ones."""
    each = report.schedule
    shown = fields_table(
        {
            "schedule": Text.assemble(plain(each.name), (f"  id {each.id}, revision {each.revision}", "dim")),
            "description": each.description,
            "when": plain(describe_timing(msgspec.structs.asdict(each))),
            "next": _next(each, now).append(UNPLANNED if standing_of(each) == "unplanned" else "", "dim"),
            "last": _last(each, now),
            "error": None if each.last_error is None else plain(each.last_error, "red"),
            "jobs": describe_jobs(each),
            "args": each.args or None,
            "metadata": each.metadata,
            "query": None if each.query is None else " ".join(each.query.split()),
            "stagger": describe_stagger(each),
            "missed ticks": describe_missed(each),
            "overlap": "skip the tick" if each.overlap == "skip" else "allowed",
            "starts at": each.starts_at,
            "ends at": each.ends_at,
            "from": _origin(each),
            "updated": Text.assemble(f"{ago(each.updated_at, now)} by ", plain(each.updated_by)),
        }
    )
    parts: list[RenderableType] = [shown]
    if report.next_ticks:
        parts += [Text(), Text("next ticks", "bold"), _tick_table(report.next_ticks, now)]
    if report.history:
        parts += [Text(), Text("last ticks", "bold"), *view_history(report.history, now)]
    return parts


def view_preview(report: PreviewReport, now: datetime) -> Sequence[RenderableType]:
    """The ticks one below the other."""
    head = Text.assemble((report.schedule or "preview", "bold"), "  ", plain(report.timing))
    if not report.enabled:
        head.append("  disabled: none of these is going to fire", "yellow")
    parts: list[RenderableType] = [head]
    if report.ticks:
        parts += [Text(), _tick_table(report.ticks, now)]
    else:
        parts.append(Text("no ticks to come"))
    if report.rows:
        rows = [plain("  " + msgspec.json.encode(row).decode()) for row in report.rows]
        parts += [Text(), Text("its query gives now", "bold"), *rows]
    return parts


def view_fired(tick: FiredTick, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    named = ", ".join(str(each) for each in tick.job_ids[:NAMED]) + (", …" if tick.job_count > NAMED else "")
    count = f"{tick.job_count} job{'' if tick.job_count == 1 else 's'}"
    verb = "made" if tick.is_new else "had made already"
    return [plain(f"schedule {tick.schedule} {verb} {count}" + (f": {named}" if named else ""))]


def view_keyed(made: list[KeyedJob], _now: datetime) -> Sequence[RenderableType]:
    """One line per job, by key."""
    rows = [
        [plain(each.key), "" if each.job_id is None else str(each.job_id), each.outcome or "would be made"]
        for each in made
    ]
    return [table(("key", "job", ""), rows, right=("job",), cut="key")]


def view_history(ticks: list[TickRecord], now: datetime) -> Sequence[RenderableType]:
    """One line per tick."""
    is_mixed = len({tick.schedule for tick in ticks}) > 1
    rows = [
        [
            *([plain(tick.schedule)] if is_mixed else []),
            show_instant(tick.tick_at),
            ago(tick.fired_at, now),
            tick.origin,
            Text(tick.outcome, OUTCOMES[tick.outcome]),
            str(tick.job_count) if tick.outcome == "fired" else "",
            _tick_note(tick),
        ]
        for tick in ticks
    ]
    heads = [*(["schedule"] if is_mixed else []), "tick", "dealt with", "by", "outcome", "jobs", "note"]
    return [table(heads, rows, right=("jobs",))]


def _next(schedule: ScheduleRecord, now: datetime) -> Text:
    standing = standing_of(schedule)
    if standing == "enabled" and schedule.next_run_at is not None:
        return Text(ahead(schedule.next_run_at, now))
    return Text(standing, STANDINGS.get(standing, ""))


def _last(schedule: ScheduleRecord, now: datetime) -> Text:
    if schedule.last_run_at is None:
        return Text("failed", "bold red") if schedule.last_error else Text("never", "dim")
    count = schedule.last_job_count or 0
    text = Text(f"{ago(schedule.last_run_at, now)}, {count} job{'' if count == 1 else 's'}")
    return text.append(", failed", "bold red") if schedule.last_error else text


def _origin(schedule: ScheduleRecord) -> Text:
    origin = origin_of(schedule)
    text = Text(origin, ORIGINS.get(origin, ""))
    if schedule.overridden:
        text.append(f"  {', '.join(schedule.overridden)} as an operator said", "dim")
    return text


def _tick_table(ticks: Sequence[NextTick], now: datetime) -> RenderableType:
    clock = "%H:%M:%S" if any(tick.local.second for tick in ticks) else "%H:%M"
    rows = [
        [
            Text(f"{tick.local:%a %Y-%m-%d {clock}}"),
            Text(f"{tick.local:%z}"[:3] + ":" + f"{tick.local:%z}"[3:5], "dim"),
            Text(ahead(tick.at, now)),
            Text(", ").join(_tick_notes(tick)),
        ]
        for tick in ticks
    ]
    return table(["local time", "offset", "", "note"], rows)


def _tick_notes(tick: NextTick) -> Iterator[Text]:
    if tick.clock_change:
        sign = "+" if tick.clock_change > 0 else "-"
        yield Text(f"clocks {sign}{show_span(abs(tick.clock_change))}", "yellow")
    if tick.note is not None:
        yield Text(NOTES[tick.note], "yellow")


def _tick_note(tick: TickRecord) -> Text:
    if tick.error is not None:
        return plain(tick.error.split("\n", maxsplit=1)[0], "red")
    if tick.reason is None:
        return Text()
    count = "more than 10000" if tick.ticks is None else str(tick.ticks)
    return Text(tick.reason.replace("_", " ") + (f", {count} ticks" if tick.ticks != 1 else ""))
