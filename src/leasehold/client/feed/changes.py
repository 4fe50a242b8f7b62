"""What has happened to jobs and workers, as readers of the database learn of it afterwards.

The words are those of `leasehold.events`; what only the timeline knows (`job_edited`, `job_triggered`, `job_deleted` and
the like) is called as it is there, after `job_`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import cast

import msgspec

from leasehold.database import Row
from leasehold.errors import BadInput

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

EVENT_NAMES = {
    "attempt_failed": "job_retried",
    "retried": "job_requeued",
    "worker_started": "worker_started",
    "worker_stopped": "worker_stopped",
}
"""From a word of the timeline to the event that it is; the others get `job_` before them."""


_REPORTED = (
    "worker_started worker_stopped job_created job_claimed job_started job_completed job_failed job_retried job_rescheduled "
    "job_released job_cancelled job_requeued job_reaped job_blocked job_unblocked job_edited job_triggered job_deleted "
    "job_audited job_completed_from_outside job_due job_promoted job_demoted"
)
REPORTED_EVENTS = frozenset(_REPORTED.split())
"""Every word that a change can have."""


def refuse_unknown_events(names: Iterable[str]) -> None:
    """Raises BadInput for the first word that no change can have."""
    for name in names:
        if name not in REPORTED_EVENTS:
            nearest = difflib.get_close_matches(name, sorted(REPORTED_EVENTS), n=1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"there are {', '.join(sorted(REPORTED_EVENTS))}"
            raise BadInput(f"there is no event {name!r}; {hint}")


class Change(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that happened. What is not known or does not apply is left out.

    Attributes:
        event: `job_completed`, `job_failed`, `job_retried`, `worker_started`, …
        at: when, by the clock of the database.
        job_id, attempt, kind, queue, key, chain_id: of the job.
        worker_id: who held the job, or the worker that it is about.
        message: of the error, or what the timeline says.
        created_at, claimed_at, started_at: of the job and of the attempt that it tells the end of.
    """

    event: str
    at: datetime
    job_id: int | None = None
    attempt: int | None = None
    kind: str | None = None
    queue: str | None = None
    key: str | None = None
    chain_id: int | None = None
    worker_id: str | None = None
    message: str | None = None
    created_at: datetime | None = None
    claimed_at: datetime | None = None
    started_at: datetime | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        """The same for the same thing read twice."""
        return self.event, self.job_id if self.job_id is not None else self.worker_id, self.attempt, self.at


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which changes are wanted; an empty field wants all.

    Attributes:
        events: words such as `job_failed`. queues, kinds: names. job_id: one job. chain_id: the jobs of one chain.
    """

    events: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    job_id: int | None = None
    chain_id: int | None = None

    @property
    def is_about_jobs(self) -> bool:
        """Whether only some jobs are wanted, not the queues as a whole."""
        return bool(self.kinds or self.events) or self.job_id is not None or self.chain_id is not None

    @property
    def has_news(self) -> bool:
        """Whether what is no change is wanted, too: of one job its log and progress, else the schedules."""
        return not (self.events or self.kinds or self.queues) and self.chain_id is None

    def has(self, change: Change) -> bool:
        """Whether the change is wanted."""
        return (
            (not self.events or change.event in self.events)
            and (not self.queues or change.queue in self.queues)
            and (not self.kinds or change.kind in self.kinds)
            and self.job_id in (None, change.job_id)
            and self.chain_id in (None, change.chain_id)
        )


def change_from_row(row: Row) -> Change:
    """A row of list_changes or list_arrivals."""
    values = dict(row)
    name_in_sql = cast("str", values.pop("event"))
    values.pop("newest_id", None)
    return Change(event=EVENT_NAMES.get(name_in_sql, f"job_{name_in_sql}"), **values)


def microseconds_of(at: datetime) -> int:
    """Microseconds since 1970, exactly."""
    return (at - EPOCH) // MICROSECOND


def instant_of(microseconds: int) -> datetime:
    """The instant this number of microseconds after the beginning of 1970. Raises OverflowError."""
    return EPOCH + timedelta(microseconds=microseconds)
