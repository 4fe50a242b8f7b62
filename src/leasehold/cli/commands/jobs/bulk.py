"""The flags of `leasehold jobs retry`, `cancel` and `trigger` that choose jobs by what they are, instead of by id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from leasehold.cli.commands.jobs.enqueue import parse_object
from leasehold.cli.runtime.context import CommandContext
from leasehold.cli.views.durations import parse_instant
from leasehold.errors import BadInput
from leasehold.records.jobs import ChangedJob

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
    worker: Annotated[str | None, Parameter(help="Only jobs that this worker has, or had last.", group=MATCHING)] = None
    args: Annotated[str | None, Parameter(help="Only jobs whose args contain this JSON object.", group=MATCHING)] = None
    metadata: Annotated[
        str | None, Parameter(help="Only jobs whose metadata contain this JSON object.", group=MATCHING)
    ] = None
    limit: Annotated[
        int | None, Parameter(help="At most this many, oldest first.", group=MATCHING, validator=Number(gte=1))
    ] = None
    dry_run: Annotated[bool, _switch("Only tell what would be done.")] = False
    yes: Annotated[bool, _switch("Do it.")] = False

    def choices(self) -> list[str]:
        """The flags given that choose jobs."""
        return [each.name for each in fields(self) if each.name not in MODES and getattr(self, each.name)]

    def common(self) -> dict[str, Any]:
        """What all the client calls take."""
        names = ("queue", "kind", "key", "error_type", "limit", "dry_run")
        return {
            **{name: getattr(self, name) for name in names},
            "worker_id": self.worker,
            "args": _part("args", self.args),
            "metadata": _part("metadata", self.metadata),
        }

    def span(self, verb: str, prefix: str = "") -> dict[str, Any]:
        """The flags `after` and `before`, with this prefix, as the client calls them."""
        given = {f"{verb}_{name}": getattr(self, prefix + name) for name in ("after", "before")}
        return {name: parse_instant(text) if text else None for name, text in given.items()}

    def is_meant(self, ids: tuple[int, ...]) -> bool:
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
class FinishedMatching(Matching):
    """For a retry."""

    failed: Annotated[bool, _switch("Jobs that failed (the default).")] = False
    cancelled: Annotated[bool, _switch("Jobs that were cancelled.")] = False

    after: Annotated[str | None, Parameter(help="Only jobs that ended at this instant or later.", group=MATCHING)] = (
        None
    )
    before: Annotated[str | None, Parameter(help="Only jobs that ended before this instant.", group=MATCHING)] = None

    created_after: Annotated[
        str | None, Parameter(help="Only jobs enqueued at this instant or later.", group=MATCHING)
    ] = None
    created_before: Annotated[str | None, Parameter(help="Only jobs enqueued before this instant.", group=MATCHING)] = (
        None
    )

    def filters(self) -> dict[str, Any]:
        """What `Client.jobs.retry_all` takes."""
        state = None if self.failed and self.cancelled else "cancelled" if self.cancelled else "failed"
        return {**self.common(), **self.span("finished"), **self.span("created", "created_"), "state": state}


@dataclass(frozen=True)
class ScheduledMatching(Matching):
    """For a trigger."""

    after: Annotated[str | None, Parameter(help="Only jobs scheduled for this instant or later.", group=MATCHING)] = (
        None
    )
    before: Annotated[str | None, Parameter(help="Only jobs scheduled for before this instant.", group=MATCHING)] = None

    created_after: Annotated[
        str | None, Parameter(help="Only jobs enqueued at this instant or later.", group=MATCHING)
    ] = None
    created_before: Annotated[str | None, Parameter(help="Only jobs enqueued before this instant.", group=MATCHING)] = (
        None
    )

    def filters(self) -> dict[str, Any]:
        """What `Client.jobs.trigger_all` takes."""
        return {**self.common(), **self.span("run"), **self.span("created", "created_")}


@dataclass(frozen=True)
class UnfinishedMatching(Matching):
    """For a cancel."""

    state: Annotated[str | None, Parameter(help="Only jobs in this state.", group=MATCHING)] = None

    after: Annotated[str | None, Parameter(help="Only jobs enqueued at this instant or later.", group=MATCHING)] = None
    before: Annotated[str | None, Parameter(help="Only jobs enqueued before this instant.", group=MATCHING)] = None

    def filters(self) -> dict[str, Any]:
        """What `Client.jobs.cancel_all` takes."""
        return {**self.common(), **self.span("created"), "state": self.state}


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
