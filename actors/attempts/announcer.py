"""Tells log and observers of a worker what has happened to its jobs. Without either it costs next to nothing."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import msgspec

from leasehold.actors.attempts.held_job import HeldJob, extras_of
from leasehold.actors.attempts.outcome import (
    Blocked,
    Committed,
    Completed,
    Continued,
    Failed,
    Released,
    Rescheduled,
    in_a_line,
)
from leasehold.actors.identity import WorkerIdentity
from leasehold.database import Caller, Row
from leasehold.events import (
    ChainCompleted,
    JobBlocked,
    JobClaimed,
    JobCompleted,
    JobFailed,
    JobLeaseLost,
    JobReleased,
    JobRescheduled,
    JobRetried,
    JobStarted,
    JobUnblocked,
    LeaseRenewed,
    WorkerError,
    WorkerEvent,
    WorkerStarted,
)
from leasehold.jobs.middleware import new_job_events
from leasehold.observability.observers import Observers

log = logging.getLogger(__name__)

MOST_NAMED = 10
Ended = Completed | Continued | Committed | Blocked | Rescheduled


class MadeJob(msgspec.Struct):
    """What events say about a job that a completion made."""

    kind: str
    queue: str | None = None
    blockers: list[Any] | None = None


class Made(msgspec.Struct):
    """The jobs of a continuation, in the order of their ids."""

    jobs: list[MadeJob] = []
    next: MadeJob | None = None


class Announcer:
    """Emits the events of one worker. Every method is called on the worker's trio loop, after the commit."""

    def __init__(self, observers: Observers, identity: WorkerIdentity) -> None:
        self._emit = observers.emit
        self.subscribed = observers.subscribed
        self._identity = identity

    def worker(self, event_type: type[WorkerEvent]) -> None:
        """The worker became ready, is stopping or has stopped."""
        if event_type in self.subscribed:
            self._emit(event_type(**self._who()))

    def worker_started(self, queues: Sequence[str], kinds: Sequence[str], slots: int) -> None:
        """The worker has registered."""
        if WorkerStarted in self.subscribed:
            self._emit(WorkerStarted(queues=tuple(queues), kinds=tuple(kinds), slots=slots, **self._who()))

    def actor_failed(self, actor: str, error: BaseException, again_in: float | None) -> None:
        """An actor of the worker failed."""
        if WorkerError in self.subscribed:
            self._emit(WorkerError(actor=actor, error=str(error) or repr(error), again_in=again_in, **self._who()))

    def claimed(self, jobs: Sequence[HeldJob], was_rung: bool) -> None:
        """The worker has claimed these jobs. `was_rung`: a notification came first."""
        _log_claims(jobs, was_rung)
        if JobClaimed in self.subscribed:
            for held in jobs:
                self._emit(JobClaimed(**self._facts(held)))

    async def unblocked(self, caller: Caller, jobs: Sequence[HeldJob]) -> None:
        """Tell which of these claimed jobs had waited for chains. Callers look into `subscribed` first.

        It asks the database. Raises DatabaseUnavailable.
        """
        rows = await caller.call("list_unblocked_jobs", [held.id for held in jobs], [held.attempt for held in jobs])
        freed = {row["job_id"] for row in rows}
        for held in jobs:
            if held.id in freed:
                self._emit(JobUnblocked(job_id=held.id, kind=held.row["kind"], queue=held.row["queue"]))

    def started(self, held: HeldJob) -> None:
        """A handler is about to be called. Callers look into `subscribed` first, since this is called for every job."""
        waited = max(0.0, (datetime.now(UTC) - held.row["run_at"]).total_seconds())
        self._emit(JobStarted(waited=waited, **self._facts(held)))

    def completed(self, outcomes: Sequence[Completed], refused: Sequence[Row]) -> None:
        """These jobs have completed, and each was the last of its chain. `refused`: rows of those not accepted."""
        _log_ends("completed", outcomes, refused)
        if JobCompleted in self.subscribed or ChainCompleted in self.subscribed:
            for outcome in _accepted(outcomes, refused):
                self._job_completed(outcome.held, has_next=False)

    def continued(self, ends: Sequence[tuple[Continued | Committed, Sequence[int] | None]]) -> None:
        """Each job has completed and made others, whose ids stand beside it: those that begin chains, then the next of its own."""
        _log_ends("completed", [outcome for outcome, _ in ends])
        if not self.subscribed:
            return
        for outcome, new_ids in ends:
            self._job_completed(outcome.held, has_next=outcome.has_next)
            if outcome.continuation is not None and new_ids:
                made = msgspec.json.decode(outcome.continuation, type=Made)
                jobs = [*made.jobs, *([] if made.next is None else [made.next])]
                for number, (job, job_id) in enumerate(zip(jobs, new_ids, strict=False)):
                    self._created(job, job_id, begins_chain=number < len(made.jobs))

    def _job_completed(self, held: HeldJob, *, has_next: bool) -> None:
        row = held.row
        if JobCompleted in self.subscribed:
            self._emit(JobCompleted(ran_for=_ran_for(held), **self._facts(held)))
        if ChainCompleted in self.subscribed and not has_next:
            chain_id = extras_of(row).get("chain_id", held.id)
            self._emit(ChainCompleted(chain_id=chain_id, job_id=held.id, kind=row["kind"], queue=row["queue"]))

    def _created(self, job: MadeJob, job_id: int, *, begins_chain: bool) -> None:
        for event in new_job_events(
            self.subscribed, job_id, job.kind, job.queue, begins_chain=begins_chain, waits=bool(job.blockers)
        ):
            self._emit(event)

    def blocked(self, outcomes: Sequence[Blocked], refused: Sequence[Row]) -> None:
        """Handlers wait for chains."""
        _log_ends("blocked", outcomes, refused)
        if JobBlocked in self.subscribed:
            for outcome in _accepted(outcomes, refused):
                row = outcome.held.row
                self._emit(JobBlocked(job_id=outcome.held.id, kind=row["kind"], queue=row["queue"]))

    def failed(self, outcomes: Sequence[Failed], rows: Mapping[int, Row], unanswered: Collection[int]) -> None:
        """Attempts failed; what became of their jobs is in the rows.

        An attempt without a row had completed its job before its handler raised. But if its job is in `unanswered`, this
        write repeats one whose answer was lost.
        """
        _log_failures(outcomes, rows, unanswered)
        if JobFailed not in self.subscribed and JobRetried not in self.subscribed:
            return
        for outcome in outcomes:
            row = rows.get(outcome.held.id)
            if row is None or row["outcome"] == "refused":
                continue
            facts = self._facts(outcome.held)
            facts |= {"error": outcome.error, "ran_for": _ran_for(outcome.held)}
            if row["outcome"] == "failed":
                self._emit(JobFailed(**facts))
            else:
                self._emit(JobRetried(run_at=row["run_at"], **facts))

    def rescheduled(self, outcomes: Sequence[Rescheduled], refused: Sequence[Row]) -> None:
        """Handlers asked to run later."""
        _log_ends("rescheduled", outcomes, refused)
        if JobRescheduled in self.subscribed:
            for outcome in _accepted(outcomes, refused):
                facts = self._facts(outcome.held)
                self._emit(JobRescheduled(after=outcome.after, at=outcome.at, reason=outcome.reason, **facts))

    def released(self, outcomes: Iterable[Released], refused: Iterable[Row]) -> None:
        """Jobs were handed back."""
        if JobReleased in self.subscribed:
            self.handed_back(outcome.held for outcome in _accepted(outcomes, refused))

    def handed_back(self, jobs: Iterable[HeldJob]) -> None:
        """Jobs were handed back unstarted."""
        if JobReleased in self.subscribed:
            for held in jobs:
                self._emit(JobReleased(**self._facts(held)))

    def renewed(self, jobs: Iterable[HeldJob]) -> None:
        """Leases were renewed."""
        for held in jobs:
            self._emit(LeaseRenewed(lease=held.lease, **self._facts(held)))

    def lost(self, held: HeldJob) -> None:
        """A lease is gone and its handler has ended."""
        if JobLeaseLost in self.subscribed and held.lost is not None:
            self._emit(JobLeaseLost(reason=held.lost, **self._facts(held)))

    def _who(self) -> dict[str, Any]:
        return {"worker_id": self._identity.worker_id, "incarnation": self._identity.incarnation}

    def _facts(self, held: HeldJob) -> dict[str, Any]:
        row = held.row
        return {
            "job_id": held.id,
            "attempt": held.attempt,
            "kind": row["kind"],
            "queue": row["queue"],
            "worker_id": self._identity.worker_id,
        }


def _log_fields(held: HeldJob) -> dict[str, Any]:
    return {"job_id": held.id, "kind": held.row["kind"], "queue": held.row["queue"], "attempt": held.attempt}


def _accepted(outcomes: Iterable[Any], refused: Iterable[Row]) -> list[Any]:
    not_ours = {row["job_id"] for row in refused}
    return [outcome for outcome in outcomes if outcome.held.id not in not_ours]


def _ran_for(held: HeldJob) -> float:
    return monotonic() - held.started if held.started is not None else 0.0


SILENT = Announcer(Observers(), WorkerIdentity(""))
"""An announcer without subscribers."""


def _log_ends(what: str, outcomes: Sequence[Ended], refusals: Sequence[Row] = ()) -> None:
    """A line for each of a few attempts, only the number of many."""
    if len(outcomes) > MOST_NAMED:
        log.debug("%d jobs %s", len(outcomes) - len(refusals), what)
        return
    if not log.isEnabledFor(logging.INFO):
        return
    refused = {row["job_id"] for row in refusals}
    now = monotonic()
    for outcome in outcomes:
        held = outcome.held
        if held.id not in refused:
            log.info(
                "%s job %s of kind %s in %.3f s",
                what,
                held.id,
                held.row["kind"],
                held.ran_for(now),
                extra=_log_fields(held),
            )


def _log_failures(outcomes: Sequence[Failed], rows: Mapping[int, Row], unanswered: Collection[int]) -> None:
    """In one line, and after the last attempt with the traceback."""
    for outcome in outcomes:
        row = rows.get(outcome.held.id)
        if row is None and outcome.held.id in unanswered:
            text = "job %s: failure repeated, the first one was heard"
            log.debug(text, outcome.held.id, extra={"job_id": outcome.held.id})
        elif row is None:
            log.warning(
                "job %s: attempt %s raised after it had completed the job: %s",
                outcome.held.id,
                outcome.held.attempt,
                in_a_line(outcome.error),
                extra={"job_id": outcome.held.id, "attempt": outcome.held.attempt},
            )
        elif row["outcome"] != "refused":
            _log_failure(outcome, row["outcome"])


def _log_failure(outcome: Failed, became: str) -> None:
    held = outcome.held
    fields = _log_fields(held)
    if became == "failed":
        text, level = "job %s of kind %s failed for good with attempt %s: %s", logging.ERROR
        log.log(
            level,
            text,
            held.id,
            held.row["kind"],
            held.attempt,
            in_a_line(outcome.error),
            extra=fields | {"error": outcome.error},
        )
    else:
        text, level = "job %s of kind %s failed attempt %s, now %s: %s", logging.WARNING
        log.log(level, text, held.id, held.row["kind"], held.attempt, became, in_a_line(outcome.error), extra=fields)


def _log_claims(jobs: Sequence[HeldJob], was_rung: bool) -> None:
    """A line for each of a few jobs, only the number of many; for those who look for a fault: what counts is the end."""
    if not log.isEnabledFor(logging.DEBUG):
        return
    if len(jobs) > MOST_NAMED:
        log.debug("claimed %d jobs", len(jobs))
        return
    for held in jobs:
        row = held.row
        log.debug(
            "claimed job %s of kind %s for %s (attempt %s)",
            held.id,
            row["kind"],
            row["key"] or row["queue"],
            held.attempt,
            extra=_log_fields(held) | {"woken": was_rung},
        )
