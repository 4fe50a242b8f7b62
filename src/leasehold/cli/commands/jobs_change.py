"""`leasehold jobs cancel`, `retry` and `trigger`: single jobs, or all that match; `edit`: what to change before one runs again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from cyclopts import Group, Parameter
from cyclopts.validators import Number
from rich.console import RenderableType
from rich.text import Text

from leasehold.cli.commands.enqueue import parse_object
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.runtime.exit_codes import ExitCode, exit_code_of
from leasehold.cli.runtime.options import AN_ID, AN_INTEGER, INJECTED, WHOLE
from leasehold.cli.runtime.outcome import Outcome, one_of, shown_as
from leasehold.cli.views import parse_instant, plain, state_text, table
from leasehold.errors import BadInput, Conflict, NotFound
from leasehold.records.jobs import ChangedJob

if TYPE_CHECKING:
    from leasehold.client import Client


MOST_SHOWN = 1_000


class JobChange(msgspec.Struct, frozen=True, kw_only=True):
    """The result for one id: changed, or skipped with the reason.

    `was` and `now` are its state before and after, the same if it was skipped; None if there is no such job.
    """

    job_id: int
    changed: bool
    was: str | None = None
    now: str | None = None
    reason: str | None = None


def view_changes(changes: list[JobChange] | list[ChangedJob], _now: datetime) -> Sequence[RenderableType]:
    """One line per job. Where jobs were chosen by what they are: with what each is, and of very many some, skipped ones first."""
    shown = changes
    if isinstance(changes[0], ChangedJob) and len(changes) > MOST_SHOWN:
        shown = sorted(changes, key=lambda each: each.changed)[:MOST_SHOWN]
    rows = [
        [
            str(each.job_id),
            *([plain(each.kind or "-"), plain(each.queue or "-")] if isinstance(each, ChangedJob) else []),
            "changed" if each.changed else "skipped",
            state_text(each.was or "-"),
            state_text(each.now or "-"),
            plain(each.reason or ""),
        ]
        for each in shown
    ]
    more = [Text(f"and {len(changes) - len(rows):,} more; --output jsonl has all")] if len(changes) > len(rows) else []
    which = ["kind", "queue"] if isinstance(changes[0], ChangedJob) else []
    return [table(["job", *which, "result", "was", "now", "why"], rows), *more]


MATCHING = Group("All that match", sort_key=50)
MODES = ("dry_run", "yes", "limit")


def _switch(text: str) -> Parameter:
    return Parameter(help=text, group=MATCHING, negative=(), show_default=False)


def _part(flag: str, text: str | None) -> dict[str, Any] | None:
    """What the flag looks for. Raises BadInput where that is in every job."""
    found = None if text is None else parse_object(flag, text)
    if found == {}:
        raise BadInput(f"--{flag} {{}}: every job has that; give a member to look for")
    return found


@dataclass(frozen=True)
class Matching:
    """Which jobs to change, and whether to do it or only to show it."""

    queue: Annotated[str | None, Parameter(help="Only jobs of this queue.", group=MATCHING)] = None
    kind: Annotated[str | None, Parameter(help="Only jobs of this kind.", group=MATCHING)] = None
    key: Annotated[str | None, Parameter(help="Only jobs with this key.", group=MATCHING)] = None
    error_type: Annotated[
        str | None, Parameter(help="Only jobs whose last error is of this type: TimeoutError.", group=MATCHING)
    ] = None
    worker: Annotated[
        str | None,
        Parameter(
            help="Only jobs that this worker, by its id or its whole friendly name, has or had last.", group=MATCHING
        ),
    ] = None
    args: Annotated[str | None, Parameter(help="Only jobs whose args contain this JSON object.", group=MATCHING)] = None
    metadata: Annotated[
        str | None, Parameter(help="Only jobs whose metadata contain this JSON object.", group=MATCHING)
    ] = None
    limit: Annotated[
        int | None,
        Parameter(help="At most this many, oldest first.", group=MATCHING, validator=Number(gte=1)),
        WHOLE,
    ] = None
    dry_run: Annotated[bool, _switch("Only tell what would be done.")] = False
    yes: Annotated[bool, _switch("Do it.")] = False

    def choices(self) -> list[str]:
        """The flags given that choose jobs."""
        return [
            each.name
            for each in fields(self)
            if each.name not in MODES and getattr(self, each.name) not in (None, False)
        ]

    def filters(self, verb: str) -> dict[str, Any]:
        """The flags as the client calls them. `after` and `before` are about when jobs were `verb`."""
        given = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "yes"}
        given["worker_id"] = given.pop("worker")
        for name in ("args", "metadata"):
            given[name] = _part(name, given[name])
        for name in ("after", "before"):
            given[f"{verb}_{name}"] = given.pop(name)
        times = [name for name in given if name.endswith(("_after", "_before")) and given[name] is not None]
        return {**given, **{name: parse_instant(given[name]) for name in times}}

    def is_given(self, ids: tuple[int, ...]) -> bool:
        """Whether to choose by these flags rather than by ids. Raises BadInput if that is not clear."""
        if ids:
            if used := [*self.choices(), *(name for name in MODES if getattr(self, name))]:
                flags = ", ".join("--" + name.replace("_", "-") for name in used)
                raise BadInput(f"{flags}: give either ids, or flags that choose jobs")
            return False
        if not self.choices():
            raise BadInput("give ids, or flags that choose jobs; --help lists them")
        if self.dry_run == self.yes:
            raise BadInput("many jobs may match: add --dry-run to see which, or --yes to do it")
        return True


@dataclass(frozen=True)
class EnqueuedMatching(Matching):
    """Also by when they were enqueued, where `after` and `before` mean another time."""

    created_after: Annotated[
        str | None, Parameter(help="Only jobs enqueued at this instant or later.", group=MATCHING)
    ] = None
    created_before: Annotated[str | None, Parameter(help="Only jobs enqueued before this instant.", group=MATCHING)] = (
        None
    )


@dataclass(frozen=True)
class FinishedMatching(EnqueuedMatching):
    """For a retry."""

    failed: Annotated[bool, _switch("Jobs that failed (the default).")] = False
    cancelled: Annotated[bool, _switch("Jobs that were cancelled.")] = False

    after: Annotated[str | None, Parameter(help="Only jobs that ended at this instant or later.", group=MATCHING)] = (
        None
    )
    before: Annotated[str | None, Parameter(help="Only jobs that ended before this instant.", group=MATCHING)] = None

    def filters(self, verb: str) -> dict[str, Any]:
        """The flags as the client calls them: of two states one, or None for both."""
        given = super().filters(verb)
        is_failed, is_cancelled = given.pop("failed"), given.pop("cancelled")
        return {**given, "state": None if is_failed and is_cancelled else "cancelled" if is_cancelled else "failed"}


@dataclass(frozen=True)
class ScheduledMatching(EnqueuedMatching):
    """For a trigger."""

    after: Annotated[str | None, Parameter(help="Only jobs scheduled for this instant or later.", group=MATCHING)] = (
        None
    )
    before: Annotated[str | None, Parameter(help="Only jobs scheduled for before this instant.", group=MATCHING)] = None


@dataclass(frozen=True)
class UnfinishedMatching(Matching):
    """For a cancel."""

    state: Annotated[str | None, Parameter(help="Only jobs in this state.", group=MATCHING)] = None

    after: Annotated[str | None, Parameter(help="Only jobs enqueued at this instant or later.", group=MATCHING)] = None
    before: Annotated[str | None, Parameter(help="Only jobs enqueued before this instant.", group=MATCHING)] = None


async def change_matching(
    context: CommandContext,
    change: Callable[..., Awaitable[list[ChangedJob]]],
    filters: dict[str, Any],
    participle: str,
) -> list[ChangedJob]:
    """Change all that match, and sum it up for people."""
    changes = await change(**filters)
    count = Counter(each.changed for each in changes)
    would = "would be " if filters["dry_run"] else ""
    skipped = f", {count[False]} skipped" if count[False] else ""
    context.say(f"{count[True]} {would}{participle}{skipped}")
    return changes


JobId = Annotated[int, Parameter(help="Id of a job."), AN_ID]
MoreIds = Annotated[int, Parameter(help="More ids."), AN_ID]


@shown_as(view_changes)
async def jobs_cancel(
    job_id: JobId | None = None,
    /,
    *more: MoreIds,
    reason: Annotated[str | None, Parameter(help="For people; stands in the job's error.")] = None,
    matching: Annotated[UnfinishedMatching, Parameter(name="*")] = UnfinishedMatching(),
    context: Annotated[CommandContext, INJECTED],
) -> Outcome[list[JobChange]] | list[ChangedJob]:
    """Cancel jobs that have not finished.

    A running handler is told to stop. Prints the state that each job was in and is in now; the exit code is that of the
    first id skipped. Instead of ids, flags choose all jobs that match; try them with --dry-run.

    Example:
      leasehold jobs cancel 42 43 --reason "wrong shop"
      leasehold jobs cancel --queue crawl --state scheduled --dry-run
    """
    ids = (*([job_id] if job_id is not None else []), *more)
    is_bulk = matching.is_given(ids)
    async with context.client() as client:
        if is_bulk:
            filters = {**matching.filters("created"), "reason": reason}
            return await change_matching(context, client.jobs.cancel_all, filters, "cancelled")

        async def cancel(each: int) -> JobChange:
            return JobChange(job_id=each, changed=True, was=await client.cancel(each, reason), now="cancelled")

        return await change_each(client, ids, cancel)


@shown_as(view_changes)
async def jobs_retry(
    job_id: JobId | None = None,
    /,
    *more: MoreIds,
    matching: Annotated[FinishedMatching, Parameter(name="*")] = FinishedMatching(),
    context: Annotated[CommandContext, INJECTED],
) -> Outcome[list[JobChange]] | list[ChangedJob]:
    """Run failed or cancelled jobs once more.

    The count of attempts goes on; a scheduled job becomes due. Prints the state that each job was in and is in now; the
    exit code is that of the first id skipped. Instead of ids, flags choose all jobs that match; try them with --dry-run.

    Example:
      leasehold jobs retry 42 43
      leasehold jobs retry --failed --kind crawl --error-type TimeoutError --dry-run
    """
    ids = (*([job_id] if job_id is not None else []), *more)
    is_bulk = matching.is_given(ids)
    async with context.client() as client:
        if is_bulk:
            return await change_matching(context, client.jobs.retry_all, matching.filters("finished"), "retried")

        async def retry(each: int) -> JobChange:
            was = (await client.get(each)).state
            return JobChange(job_id=each, changed=True, was=was, now=await client.retry(each))

        return await change_each(client, ids, retry)


async def change_each(
    client: Client, ids: Sequence[int], change: Callable[[int], Awaitable[JobChange]]
) -> Outcome[list[JobChange]]:
    """Apply `change` to each id; what the database refuses is reported and the rest goes on."""
    changes: list[JobChange] = []
    codes: list[ExitCode] = []
    for job_id in ids:
        try:
            changes.append(await change(job_id))
        except (NotFound, Conflict) as refusal:
            state = (await client.get(job_id)).state if isinstance(refusal, Conflict) else None
            changes.append(JobChange(job_id=job_id, changed=False, was=state, now=state, reason=str(refusal)))
            codes.append(exit_code_of(refusal))
    return Outcome(changes, codes[0] if codes else ExitCode.DONE)


@shown_as(view_changes)
async def jobs_trigger(
    job_id: JobId | None = None,
    /,
    *more: MoreIds,
    matching: Annotated[ScheduledMatching, Parameter(name="*")] = ScheduledMatching(),
    context: Annotated[CommandContext, INJECTED],
) -> list[JobChange] | list[ChangedJob]:
    """Run scheduled jobs now: all of the named ones, or none.

    Includes jobs that wait for their next attempt. Prints the state that each job was in and is in now. Instead of ids,
    flags choose all jobs that match; try them with --dry-run.

    Example:
      leasehold jobs trigger 42 43
      leasehold jobs trigger --kind crawl --error-type TimeoutError --dry-run
    """
    ids = (*([job_id] if job_id is not None else []), *more)
    is_bulk = matching.is_given(ids)
    async with context.client() as client:
        if is_bulk:
            return await change_matching(context, client.jobs.trigger_all, matching.filters("run"), "triggered")
        states = await client.jobs.trigger_many(ids)
    return [JobChange(job_id=each, changed=True, was="scheduled", now=state) for each, state in states.items()]


@shown_as(one_of(view_changes))
async def jobs_edit(
    job_id: JobId,
    /,
    *,
    args: Annotated[str | None, Parameter(help="New args, a JSON object.")] = None,
    priority: Annotated[int | None, Parameter(help="Higher runs first."), AN_INTEGER] = None,
    queue: Annotated[str | None, Parameter(help="Move it to this queue.")] = None,
    run_at: Annotated[str | None, Parameter(help="Not before this instant: 2030-01-31T09:30:00Z.")] = None,
    max_attempts: Annotated[int | None, Parameter(help="Attempts until it counts as failed."), AN_INTEGER] = None,
    metadata: Annotated[str | None, Parameter(help="New metadata, a JSON object.")] = None,
    reason: Annotated[str | None, Parameter(help="For people; stands in the timeline.")] = None,
    context: Annotated[CommandContext, INJECTED],
) -> JobChange:
    """Change a job before it runs, or before it is retried.

    No worker may hold it. Flags that are not given change nothing; the timeline keeps the old values. Where an app is
    configured (LEASEHOLD_APP), args are checked against its handlers.

    Example:
      leasehold jobs edit 42 --args '{"shop": 8}' --reason "wrong shop"
    """
    async with context.client(context.settings.app) as client:
        was = (await client.get(job_id)).state
        now = await client.jobs.edit(
            job_id,
            args=parse_object("args", args) if args is not None else None,
            priority=priority,
            queue=queue,
            run_at=parse_instant(run_at) if run_at is not None else None,
            max_attempts=max_attempts,
            metadata=parse_object("metadata", metadata) if metadata is not None else None,
            reason=reason,
        )
    return JobChange(job_id=job_id, changed=True, was=was, now=now)
