"""Flags that say when a schedule fires and what its jobs are, and how they are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from leasehold.cli.commands.enqueue import parse_object
from leasehold.cli.runtime.options import AN_INTEGER
from leasehold.cli.views import parse_duration, parse_instant
from leasehold.errors import BadInput
from leasehold.schedules.definition import Missed, Overlap

ScheduleName = Annotated[str, Parameter(help="Name of a schedule, or its id.")]


@dataclass(frozen=True)
class TimingFlags:
    """When a schedule fires."""

    every: Annotated[str | None, Parameter(help="Interval: 30s, 5m, 4h, 1d. Or --cron, or --at.")] = None
    cron: Annotated[str | None, Parameter(help="Five fields, six with seconds first, or @daily.")] = None
    at: Annotated[str | None, Parameter(help="Once, at this instant: 2030-01-31T09:30:00Z.")] = None
    zone: Annotated[str | None, Parameter(help="Time zone of --cron: Europe/Berlin; else UTC.")] = None
    starts_at: Annotated[str | None, Parameter(help="No tick before this instant.")] = None
    ends_at: Annotated[str | None, Parameter(help="No tick at this instant or later.")] = None


@dataclass(frozen=True)
class PolicyFlags:
    """How missed and overlapping ticks are handled, and what jobs are made."""

    query: Annotated[str | None, Parameter(help="A SELECT, a job for each row; @FILE reads it from a file.")] = None
    query_timeout: Annotated[str | None, Parameter(help="How long the query may take; 30s.")] = None
    query_rows: Annotated[int | None, Parameter(help="With more rows the tick fails; 10000."), AN_INTEGER] = None
    stagger: Annotated[str | None, Parameter(help="Spread the jobs of a tick over this long: 30m.")] = None
    batches: Annotated[int | None, Parameter(help="In this many batches; else each job by itself."), AN_INTEGER] = None
    missed: Annotated[
        Missed | None, Parameter(help="What becomes of ticks nobody fired in time; coalesce: one for all.")
    ] = None
    grace: Annotated[str | None, Parameter(help="A tick later than this was missed; 60s.")] = None
    catch_up_limit: Annotated[int | None, Parameter(help="The most missed ticks to catch up; 100."), AN_INTEGER] = None
    overlap: Annotated[
        Overlap | None, Parameter(help="skip: no tick while a job of an earlier one is open; else allow.")
    ] = None
    queue: Annotated[str | None, Parameter(help="Queue of its jobs; else the kind's own or `default`.")] = None
    priority: Annotated[int | None, Parameter(help="Higher runs first."), AN_INTEGER] = None
    key: Annotated[str | None, Parameter(help="What its jobs are about.")] = None
    key_group: Annotated[str | None, Parameter(help="What limits of each group count by.")] = None
    max_attempts: Annotated[int | None, Parameter(help="Attempts until a job counts as failed."), AN_INTEGER] = None
    timeout: Annotated[str | None, Parameter(help="How long one attempt may run.")] = None
    metadata: Annotated[str | None, Parameter(help="Anything else to keep with each job, a JSON object.")] = None
    description: Annotated[str | None, Parameter(help="For people.")] = None


def _seconds(text: str) -> float:
    return parse_duration(text) / timedelta(seconds=1)


def read_query(text: str) -> str:
    """The query itself, or what the file holds that it names. Raises BadInput."""
    if not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read the query from {text[1:]}: {error}") from error


_READERS: dict[str, Callable[[Any], object]] = {
    **dict.fromkeys(("every", "stagger", "grace", "timeout", "query_timeout"), _seconds),
    **dict.fromkeys(("at", "starts_at", "ends_at"), parse_instant),
    "query": read_query,
    "metadata": lambda text: parse_object("metadata", text),
}


def read_flags(*groups: TimingFlags | PolicyFlags) -> dict[str, Any]:
    """What was given, by the field of a `ScheduleDefinition`. Raises BadInput."""
    given = {each.name: getattr(group, each.name) for group in groups for each in fields(group)}
    return {name: _READERS.get(name, lambda value: value)(value) for name, value in given.items() if value is not None}
