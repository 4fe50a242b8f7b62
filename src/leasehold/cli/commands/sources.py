"""Moving another queue in: `leasehold import …`; `leasehold compat …`, the tables and functions of task workers beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from rich.console import RenderableType

from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.options import INJECTED
from leasehold.cli.runtime.outcome import shown_as
from leasehold.cli.views import plain, table
from leasehold.client import sources_of
from leasehold.errors import BadInput
from leasehold.moving.compat import compat_script, run_compat
from leasehold.moving.sources import (
    MovedSchedule,
    MoveReport,
    PlanLine,
    RefilledJobs,
    SourceRecord,
    load_mapping,
    with_names,
)
from leasehold.observability.wording import show_instant


class MovePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What moving a source would do with its rows, and with each of its schedules, and which jobs it would make besides."""

    rows: list[PlanLine]
    schedules: list[MovedSchedule]
    refill: list[RefilledJobs] = []


class SealChange(msgspec.Struct, frozen=True, kw_only=True):
    """A source after seal or open; `changed` is false if nothing had to be changed."""

    sealed: bool
    changed: bool


def view_sources(sources: list[SourceRecord], _now: datetime) -> Sequence[RenderableType]:
    """One line each."""
    heads = ["source", "sealed", "jobs", "schedules", "cancelled", "defined by"]
    rows = [
        [
            plain(each.source),
            "no" if each.sealed_at is None else show_instant(each.sealed_at),
            str(each.jobs),
            str(each.schedules),
            str(each.cancelled),
            plain(each.defined_by),
        ]
        for each in sources
    ]
    return [table(heads, rows, right=heads[2:5])]


def view_plan(plan: MovePlan, _now: datetime) -> Sequence[RenderableType]:
    """One line for each state of each table, one for each schedule, and one for each kind of job that is made besides."""
    rows = [
        [
            plain(each.source_table),
            plain(each.state or "-"),
            plain(each.means or "unknown: stays"),
            str(each.row_count),
            plain(each.complaint or ""),
        ]
        for each in plan.rows
    ]
    lines = table(["table", "state", "means", "rows", "complaint"], rows, right=["rows"], cut="complaint")
    schedules: Sequence[RenderableType] = view_schedules(plan.schedules, _now) if plan.schedules else ()
    return [lines, *schedules, *(plain(line) for line in _refill_lines(plan.refill, "to make"))]


def view_schedules(schedules: list[MovedSchedule], _now: datetime) -> Sequence[RenderableType]:
    """One line each."""
    rows = [[plain(cell or "") for cell in (each.name, each.outcome, each.complaint)] for each in schedules]
    return [table(["schedule", "outcome", "complaint"], rows, cut="complaint")]


def view_migration(report: MoveReport, now: datetime) -> Sequence[RenderableType]:
    """One line for each table and kind, then the schedules."""
    lines = [f"{each.source_table}: {each.moved} jobs moved, {each.cancelled} cancelled" for each in report.jobs]
    lines += _refill_lines(report.refilled, "made")
    lines += [
        f"{each.source_table}: {each.refused} refused and still there: {each.complaint}" for each in report.refused
    ]
    parts: list[RenderableType] = [plain(line) for line in lines or ["no jobs to move"]]
    return [*parts, *view_schedules(report.schedules, now)] if report.schedules else parts


def _refill_lines(refilled: Sequence[RefilledJobs], done: str) -> list[str]:
    lines = [f"{each.kind}: {each.made} jobs {done}" for each in refilled]
    return lines + [
        f"{each.kind}: {each.refused} rows refused, and get no job: {each.complaint}"
        for each in refilled
        if each.refused
    ]


def view_seal(report: SealChange, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    state = "sealed: its own workers claim nothing" if report.sealed else "open: its own workers may claim"
    return [plain(f"the source {'is now' if report.changed else 'was already'} {state}")]


class DefinedSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source just defined; `is_new` is false where its mapping was replaced."""

    source: str
    is_new: bool


def view_defined(report: DefinedSource, _now: datetime) -> Sequence[RenderableType]:
    """One sentence, and what to do next."""
    done = "defined" if report.is_new else "defined again"
    return [plain(f"source {report.source} {done}; look with  leasehold import plan {report.source}")]


@shown_as(view_defined)
async def import_define(
    mapping: str,
    /,
    *,
    name: Annotated[str | None, Parameter(help="Of the source; else that of the mapping or its file.")] = None,
    schema: Annotated[str, Parameter(help="Where the other queue has its tables.")] = "public",
    names: Annotated[Path | None, Parameter(help="JSON file with kinds, queues and positional: new names.")] = None,
    context: Annotated[CommandContext, INJECTED],
) -> DefinedSource:
    """Say how the tables of another queue in this database are read.

    Ready mappings: procrastinate, pgqueuer, celery_beat, django_tasks_db, worker_tasks, crawl_jobs; or a .toml or .json file.
    The mapping holds SQL that runs with the rights of the schema's owner, so only the owner may define it.

    Example:
      leasehold import define procrastinate
      leasehold import define ./old_queue.toml --schema legacy --names names.json
    """
    loaded = with_names(load_mapping(mapping, schema), {} if names is None else _read_names(names))
    source = name or Path(mapping).stem
    async with context.database() as database:
        is_new = await database.call_value("define_source", source, msgspec.json.encode(loaded).decode())
    return DefinedSource(source=source, is_new=bool(is_new))


def _read_names(path: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.DecodeError) as error:
        raise BadInput(f"{path} cannot be read as a JSON object: {error}") from error


@shown_as(view_sources)
async def import_list(*, context: Annotated[CommandContext, INJECTED]) -> list[SourceRecord]:
    """List the sources, and how much of each has moved.

    Example:
      leasehold import list
    """
    async with context.client() as client:
        return await sources_of(client).list()


@shown_as(view_plan)
async def import_plan(source: str | None = None, /, *, context: Annotated[CommandContext, INJECTED]) -> MovePlan:
    """Tell what moving a source would do. Nothing is changed.

    Pending rows move, all others stay. What is refused stays, too, with the reason.

    Example:
      leasehold import plan procrastinate
    """
    async with context.client() as client:
        return MovePlan(
            rows=await sources_of(client).plan(source),
            schedules=await sources_of(client).move_schedules(source, dry_run=True),
            refill=await sources_of(client).refill(source, dry_run=True),
        )


@shown_as(view_migration)
async def import_run(
    source: str | None = None,
    /,
    *,
    yes: Annotated[bool, Parameter(help="Do it.", negative=())] = False,
    context: Annotated[CommandContext, INJECTED],
) -> MoveReport:
    """Move a source in: seal it, move its schedules and its pending jobs.

    Each row is ended there in the transaction that makes its job here. A run that was broken off goes on with the next one.
    The source stays sealed; run it again for what has arrived there since. A terminal shows how many rows are done.

    Example:
      leasehold import plan procrastinate
      leasehold import run procrastinate --yes
    """
    if not yes:
        raise BadInput("this moves jobs and schedules: look with `leasehold import plan`, then add --yes")
    async with context.client() as client:
        with context.terminal.counting("rows done") as show:
            return await sources_of(client).migrate(source, progress=show)


@shown_as(view_schedules)
async def import_schedules(
    source: str | None = None,
    /,
    *,
    disable: Annotated[bool, Parameter(help="Disable them there, and make none here.", negative=())] = False,
    context: Annotated[CommandContext, INJECTED],
) -> list[MovedSchedule]:
    """Move the schedules of a source only, or disable them there.

    Example:
      leasehold import schedules celery_beat
    """
    async with context.client() as client:
        return await sources_of(client).move_schedules(source, only_disable=disable)


@shown_as(view_seal)
async def import_seal(source: str | None = None, /, *, context: Annotated[CommandContext, INJECTED]) -> SealChange:
    """Have a source's own workers claim nothing more; what they run goes on.

    Example:
      leasehold import seal procrastinate
    """
    async with context.client() as client:
        return SealChange(sealed=True, changed=await sources_of(client).seal(source))


@shown_as(view_seal)
async def import_open(source: str | None = None, /, *, context: Annotated[CommandContext, INJECTED]) -> SealChange:
    """Let a source's own workers claim again; what has moved stays here.

    Example:
      leasehold import open procrastinate
    """
    async with context.client() as client:
        return SealChange(sealed=False, changed=await sources_of(client).open(source))


SchemaName = Annotated[str, Parameter(help="Where their names are looked for.")]
DryRun = Annotated[bool, Parameter(help="Only print the SQL; needs no database.", negative=())]


class CompatChange(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a schema has the tables and functions of task workers now."""

    schema: str
    installed: bool


def view_compat(change: CompatChange, _now: datetime) -> Sequence[RenderableType]:
    """One sentence."""
    has = "are there now" if change.installed else "are gone, where they were ours"
    return [plain(f"worker_tasks, task_schedules, v_worker_capacity and their functions {has}; schema {change.schema}")]


@shown_as(view_compat)
async def compat_install(
    *, schema: SchemaName = "public", dry_run: DryRun = False, context: Annotated[CommandContext, INJECTED]
) -> CompatChange | None:
    """Make the views and functions of task workers: their SQL goes on working.

    worker_tasks and task_schedules can be read and written; what is written is done by the functions of leasehold. It needs
    the right to create in the schema. Nothing of somebody else's is replaced, and a second run changes nothing.

    Example:
      leasehold compat install
      leasehold compat install --schema crawler
      leasehold compat install --dry-run > compat.sql
    """
    return await _change(context, schema, dry_run=dry_run, remove=False)


@shown_as(view_compat)
async def compat_uninstall(
    *, schema: SchemaName = "public", dry_run: DryRun = False, context: Annotated[CommandContext, INJECTED]
) -> CompatChange | None:
    """Remove what `compat install` has made. Jobs and schedules stay as they are.

    Example:
      leasehold compat uninstall
      leasehold compat uninstall --schema crawler --dry-run
    """
    return await _change(context, schema, dry_run=dry_run, remove=True)


async def _change(context: CommandContext, schema: str, *, dry_run: bool, remove: bool) -> CompatChange | None:
    if dry_run:
        context.terminal.stdout.write(compat_script(schema, remove=remove))
        return None
    await context.check_schema()
    await run_compat(context.dsn(), schema, remove=remove)
    return CompatChange(schema=schema, installed=not remove)
