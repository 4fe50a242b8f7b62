"""What commands return beyond the records of the client. The renderer prints them; their fields are the JSON."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Literal

import msgspec

from leasehold.cli.shell.exit_codes import ExitCode
from leasehold.records.jobs import JobProgress, JobRecord, TimelineEntry
from leasehold.records.queues import QueueCounts
from leasehold.records.workers import WorkerRecord


class Outcome(msgspec.Struct, frozen=True):
    """A result that is printed and ends with a code of its own."""

    value: object
    exit_code: ExitCode


class Finally(msgspec.Struct, frozen=True):
    """Not a result yet: `run` is called once the command's event loop has ended, and returns the exit code."""

    run: Callable[[], int]


class SchemaChange(msgspec.Struct, frozen=True, kw_only=True):
    """What `migrate` changed, or with `dry_run` would change."""

    from_version: int
    to_version: int
    migrations: tuple[str, ...]
    views: tuple[str, ...]
    functions: tuple[str, ...]
    removed: tuple[str, ...]
    dry_run: bool

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.migrations or self.views or self.functions or self.removed)


class PausedQueue(msgspec.Struct, frozen=True, kw_only=True):
    """A queue from which nothing is claimed, since when, and why."""

    queue: str
    paused_at: datetime
    reason: str | None


class StatusReport(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs per queue and state, the paused queues, and the workers."""

    queues: list[QueueCounts]
    paused: list[PausedQueue]
    workers: list[WorkerRecord]


class JobReport(msgspec.Struct, frozen=True, kw_only=True):
    """One job, what happened to it so far, and how far its handler says that it has come."""

    job: JobRecord
    timeline: list[TimelineEntry]
    progress: JobProgress | None = None


class JobChange(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one id: changed, or skipped with the reason.

    `was` and `now` are its state before and after, the same where it was skipped; None where there is no such job.
    """

    job_id: int
    changed: bool
    was: str | None = None
    now: str | None = None
    reason: str | None = None


class EnqueueReport(msgspec.Struct, frozen=True, kw_only=True):
    """The job's id; `is_new` is false when its idempotency key was known already."""

    job_id: int
    is_new: bool


class QueueChange(msgspec.Struct, frozen=True, kw_only=True):
    """A queue after pause or resume; `changed` is false when it was so already."""

    queue: str
    paused: bool
    changed: bool


class WakeReport(msgspec.Struct, frozen=True, kw_only=True):
    """Which queue's workers were woken; None means all."""

    queue: str | None


class ReapReport(msgspec.Struct, frozen=True, kw_only=True):
    """How many jobs were taken back."""

    reaped: int


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One thing the doctor looked at. Only a `problem` counts as a finding."""

    name: str
    verdict: Literal["ok", "advice", "problem", "skipped"]
    detail: str
    advice: str | None = None
