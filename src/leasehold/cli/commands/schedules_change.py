"""`leasehold schedules create`, `update`, `enable`, `disable` and `delete`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, cast

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType

from leasehold.cli.commands.enqueue import parse_object, warn_of_stranger
from leasehold.cli.commands.schedules import (
    TIMING,
    PolicyFlags,
    ScheduleName,
    TimingFlags,
    preview_report,
    read_flags,
)
from leasehold.cli.commands.schedules_view import PreviewReport, view_created, view_schedules
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import AN_INTEGER, INJECTED
from leasehold.cli.runtime.outcome import one_of, shown_as
from leasehold.cli.views import plain
from leasehold.errors import BadInput
from leasehold.schedules.definition import FIELDS
from leasehold.schedules.records import ScheduleRecord

POLICY = PolicyFlags()
DRY_RUN_TICKS = 5


class ChangedSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """What was done to a schedule; `changed` is false if nothing had to be changed."""

    schedule: str
    now: Literal["enabled", "disabled", "deleted"]
    changed: bool


def view_changed(report: ChangedSchedule, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    return [plain(f"schedule {report.schedule} {'is now' if report.changed else 'was already'} {report.now}")]


@shown_as(view_created)
async def schedules_create(
    name: Annotated[str, Parameter(help="Name of the schedule; unique.")],
    kind: Annotated[str, Parameter(help="Which handler runs its jobs.")],
    args: Annotated[str, Parameter(help="Args of each job, a JSON object.")] = "{}",
    /,
    *,
    timing: Annotated[TimingFlags, Parameter(name="*")] = TIMING,
    policy: Annotated[PolicyFlags, Parameter(name="*")] = POLICY,
    disabled: Annotated[bool, Parameter(help="It does not fire until it is enabled.", negative=())] = False,
    dry_run: Annotated[bool, Parameter(help="Only check it and show its next ticks.", negative=())] = False,
    context: Annotated[CommandContext, INJECTED],
) -> ScheduleRecord | PreviewReport:
    """Make a schedule: jobs of a kind at an interval, by the clock, or once.

    One of --every, --cron and --at is needed. Where an app is configured (LEASEHOLD_APP), args are checked against its
    handlers.

    Example:
      leasehold schedules create nightly clean_up '{"days": 30}' --cron "0 3 * * *" --zone Europe/Berlin
      leasehold schedules create crawl-all crawl --every 4h --query "select id as shop from shops" --stagger 30m
    """
    given: dict[str, Any] = {
        "name": name,
        "kind": kind,
        "args": parse_object("args", args),
        **read_flags(timing, policy),
    }
    given |= {"enabled": False} if disabled else {}
    async with context.client(context.settings.app) as client:
        if not dry_run:
            made = await client.schedules.create_from(given)
            if context.settings.app is None:
                await warn_of_stranger(kind, client, context)
            return made
        ticks = await client.schedules.check(given, count=DRY_RUN_TICKS)
    return preview_report(name, given, ticks)


@shown_as(one_of(view_schedules))
async def schedules_update(
    name: ScheduleName,
    /,
    *,
    timing: Annotated[TimingFlags, Parameter(name="*")] = TIMING,
    policy: Annotated[PolicyFlags, Parameter(name="*")] = POLICY,
    kind: Annotated[str | None, Parameter(help="Which handler runs its jobs.")] = None,
    args: Annotated[str | None, Parameter(help="New args, a JSON object.")] = None,
    clear: Annotated[
        tuple[str, ...], Parameter(help="Give this field its default again: --clear key; may be repeated.")
    ] = (),
    revision: Annotated[int | None, Parameter(help="Refuse to, if it has another revision by now."), AN_INTEGER] = None,
    reset: Annotated[
        bool, Parameter(help="Give it back to the code that declares it, and nothing else.", negative=())
    ] = False,
    context: Annotated[CommandContext, INJECTED],
) -> ScheduleRecord:
    """Change a schedule. Flags that are not given change nothing.

    If code declares the schedule, a change made here stays in force when that code starts again, until --reset.

    Example:
      leasehold schedules update nightly --cron "0 4 * * *" --overlap skip
      leasehold schedules update nightly --clear key
      leasehold schedules update nightly --reset
    """
    changes = read_flags(timing, policy) | dict.fromkeys(_clearable(clear))
    changes |= {} if kind is None else {"kind": kind}
    changes |= {} if args is None else {"args": parse_object("args", args)}
    if reset and (changes or revision is not None):
        raise BadInput("--reset goes alone")
    async with context.client(context.settings.app) as client:
        if reset:
            return await client.schedules.reset(name)
        return await client.schedules.update(name, revision=revision, **cast("Any", changes))


@shown_as(view_changed)
async def schedules_enable(name: ScheduleName, /, *, context: Annotated[CommandContext, INJECTED]) -> ChangedSchedule:
    """Let a schedule fire again, from its next tick on.

    Ticks that were missed meanwhile do not fire.

    Example:
      leasehold schedules enable nightly
    """
    async with context.client() as client:
        changed = await client.schedules.enable(name)
    return ChangedSchedule(schedule=name, now="enabled", changed=changed)


@shown_as(view_changed)
async def schedules_disable(name: ScheduleName, /, *, context: Annotated[CommandContext, INJECTED]) -> ChangedSchedule:
    """Stop a schedule from firing by itself.

    It may still be triggered by hand; jobs that it has made go on.

    Example:
      leasehold schedules disable nightly
    """
    async with context.client() as client:
        changed = await client.schedules.disable(name)
    return ChangedSchedule(schedule=name, now="disabled", changed=changed)


@shown_as(view_changed)
async def schedules_delete(name: ScheduleName, /, *, context: Annotated[CommandContext, INJECTED]) -> ChangedSchedule:
    """Remove a schedule and its history; jobs that it has made stay.

    A schedule that code declares comes back when a scheduler starts with that code: disable it instead.

    Example:
      leasehold schedules delete nightly
    """
    async with context.client() as client:
        await client.schedules.delete(name)
    return ChangedSchedule(schedule=name, now="deleted", changed=True)


def _clearable(names: Sequence[str]) -> list[str]:
    fields = [name.strip().replace("-", "_") for name in names]
    for field in fields:
        if field not in FIELDS or field in {"name", "kind"}:
            known = ", ".join(sorted(FIELDS.keys() - {"name", "kind"}))
            raise BadInput(f"--clear {field}: a schedule has no such field that could be cleared; there are {known}")
    return fields
