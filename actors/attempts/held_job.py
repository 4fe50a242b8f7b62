"""A job under this worker's lease, from claim to acknowledged outcome: the times of its lease, the limits of its handler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf
from time import monotonic
from typing import Any
from uuid import UUID

import msgspec
import trio

from leasehold.actors.identity import WorkerIdentity
from leasehold.database import Row
from leasehold.jobs.job import Job
from leasehold.jobs.job_host import JobHost
from leasehold.jobs.kind import Kind

_decoder = msgspec.json.Decoder(dict[str, Any])
TOO_LATE = {
    "type": "DeadlineExceeded",
    "message": "the deadline of the job passed before its handler began",
    "traceback": "",
}
DEADLINE_PASSED = {
    "type": "DeadlineExceeded",
    "message": "the deadline of the job passed while its handler ran",
    "traceback": "",
}
SHUTDOWN = "shutdown"
"""The reason for cancelling a handler when its worker ends; its job is handed back."""
UNRENEWED = "error"
"""The reason for cancelling a handler when its lease cannot be renewed because the database is away."""
EXTRAS_OF_JOBS = ("chain_id", "chain_position", "traceparent")


def extras_of(row: Row) -> dict[str, Any]:
    """The extras of a claimed row; empty for a plain job."""
    encoded: str | None = row.get("extras")
    return {} if encoded is None else _decoder.decode(encoded)


def lease_margin(lease: float) -> float:
    """Seconds before the lease's end at which its owner stops trusting it: a sixth, at most five seconds."""
    return min(5.0, lease / 6)


def renewal_time(renew_seconds: float, lease: float) -> float:
    """Seconds after a claim or renewal at which the next one is due: as configured, at most a third of the lease."""
    return min(renew_seconds, lease / 3)


class RunClock:
    """Cancels a handler at its timeout or its deadline, whichever comes first. Only jobs with one of them have a clock.

    Args:
        scope: of the handler, on trio's clock.
        timeout: seconds that the handler may run; None: no limit.
        deadline: seconds on the monotonic clock; None: no limit.
    """

    def __init__(self, scope: trio.CancelScope, timeout: float | None, deadline: float | None) -> None:
        self._scope = scope
        self._timeout = timeout
        self._left = inf if timeout is None else timeout
        self._offset = trio.current_time() - monotonic()
        self._deadline = inf if deadline is None else deadline + self._offset
        self._timed_out_at = inf
        self.start()

    def start(self) -> None:
        """Count the timeout: the handler runs."""
        self._timed_out_at = trio.current_time() + self._left
        self._scope.deadline = min(self._timed_out_at, self._deadline)

    def stop(self) -> None:
        """Stop the timeout while the handler waits for a process. The deadline stays."""
        self._left = self._timed_out_at - trio.current_time()
        self._timed_out_at = inf
        self._scope.deadline = self._deadline

    @property
    def expired(self) -> str | None:
        """Which limit has passed: `deadline`, `timeout` or None. Any thread may ask."""
        now = monotonic() + self._offset
        if now >= self._deadline:
            return "deadline"
        return "timeout" if now >= self._timed_out_at else None

    def missed(self) -> dict[str, Any] | None:
        """The error of a handler that returns by itself after the deadline; None before the deadline."""
        return DEADLINE_PASSED if self.expired == "deadline" else None

    def error(self) -> tuple[dict[str, Any], bool]:
        """The error of a handler that this clock has cancelled, and whether the job fails for good."""
        # A busy event loop cancels the scope late, never early. So the earlier of the two limits is the cause.
        if self._deadline <= self._timed_out_at:
            return DEADLINE_PASSED, True
        message = f"the handler was cancelled after its timeout of {self._timeout} s"
        return {"type": "TimedOut", "message": message, "traceback": ""}, False


class HeldJob:
    """One claimed job. It belongs to the worker's trio thread; the lease keeper shares it from a thread of its own.

    Two threads share only single attributes, each written by one of them. A test holds this table:

    Written by (all others only read, or call the methods):
        self: every attribute, when it is made; `lost`, `was_in_time`, `scope` and `clock` in its methods.
        leases/keeper.py: `renew_at`, `shown`, `trusted_until` (in the keeper's thread).
        leases/watcher.py: `watched`.
        running/slot.py: `started`.
        running/large_values.py: `args`.
        running/crew.py: `is_left`.
        running/attempt_session.py: `settling`.
        running/settler.py: `settling`.
        worker/epoch_change.py: `incarnation`.

    Read in the keeper's thread: `attempt`, `id`, `lease`, `lost`, `renew_at`, `row`, `settling`, `shown`, `started`.
    """

    __slots__ = (
        "args", "attempt", "claimed_at", "clock", "deadline", "extras", "id", "incarnation", "is_left", "kind", "lease", "lost",
        "renew_at", "row", "scope", "settling", "shown", "started", "timeout", "trusted_until", "was_in_time", "watched",
    )  # fmt: skip

    def __init__(
        self, row: Row, kind: Kind[..., Any], claimed_at: float, renew_after: float, incarnation: UUID | None = None
    ) -> None:
        self.id: int = row["job_id"]
        self.incarnation = incarnation
        self.attempt: int = row["attempt"]
        self.row = row
        self.args: str = row.get("args") or "{}"
        self.kind = kind
        self.claimed_at = claimed_at
        self.lease: float = row["lease_seconds"]
        self.trusted_until = claimed_at + self.lease - lease_margin(self.lease)
        self.renew_at = claimed_at + renewal_time(renew_after, self.lease)
        self.started: float | None = None
        self.scope: trio.CancelScope | None = None
        self.lost: str | None = None
        self.was_in_time = False
        self.is_left = False
        self.settling = False
        self.shown = False
        self.watched: trio.CancelScope | None = None
        self.extras = extras_of(row) if row.get("extras") is not None else None
        self.timeout = kind.options.timeout
        self.deadline: float | None = None
        self.clock: RunClock | None = None
        if self.extras is not None:
            self._limit(self.extras)

    def _limit(self, extras: dict[str, Any]) -> None:
        if "timeout" in extras:
            self.timeout = float(extras["timeout"])
        if "deadline_in" in extras:
            self.deadline = monotonic() + float(extras["deadline_in"])

    @property
    def is_suspect(self) -> bool:
        """Whether a process has died while it ran this job before."""
        return self.extras is not None and "crashes" in self.extras

    def start_clock(self, scope: trio.CancelScope) -> None:
        """The handler is about to run in this scope, for as long as the job's timeout and deadline allow."""
        self.scope = scope
        if self.timeout is not None or self.deadline is not None:
            self.clock = RunClock(scope, self.timeout, self.deadline)

    @property
    def cancel_reason(self) -> str | None:
        """Why the handler is being cancelled, if it is. In any thread."""
        if self.lost is not None or self.clock is None:
            return self.lost
        return self.clock.expired

    def ran_for(self, now: float) -> float:
        """Seconds since the handler started, 0 if it has not."""
        return now - self.started if self.started is not None else 0.0

    def lose(self, reason: str) -> None:
        """The lease is gone: cancel the handler. Nothing is written for this attempt any more."""
        if self.lost is None and not self.settling:
            self.lost = reason
            if self.scope is not None:
                self.scope.cancel(reason)

    def lapse(self, now: float) -> None:
        """Give up a job whose lease was not renewed in time. If the lease has not run out at `now`, the database was
        away, and the job can be handed back in good order; if it has, this process stood still.
        """
        self.was_in_time = self.was_in_time or now < self.trusted_until + lease_margin(self.lease)
        self.lose(UNRENEWED)

    @property
    def may_go_back(self) -> bool:
        """Whether only a lost database made us give it up. A job with a single attempt must not start twice."""
        return self.lost == UNRENEWED and self.was_in_time and (self.started is None or self.row["max_attempts"] > 1)

    def job(self, identity: WorkerIdentity, host: JobHost | None = None) -> Job:
        """The job as its handler sees it. Its methods call `host`; without one they raise that there is no worker."""
        row = self.row
        metadata = row["metadata"]
        job = Job(
            id=self.id,
            kind=row["kind"],
            queue=row["queue"],
            attempt=self.attempt,
            max_attempts=row["max_attempts"],
            incarnation=self.incarnation or identity.incarnation,
            worker_id=identity.worker_id,
            key=row["key"],
            priority=row["priority"],
            metadata=None if metadata is None else msgspec.json.decode(metadata),
            created_at=row["created_at"],
            run_at=row["run_at"],
            chain_id=self.id,
            _host=host,
        )
        if not self.extras:
            return job
        known = {name: self.extras[name] for name in EXTRAS_OF_JOBS if name in self.extras}
        return msgspec.structs.replace(job, **known)


class Holdings(dict[int, HeldJob]):
    """What this worker holds, by job id. Only these methods add and drop.

    It belongs to the worker's trio thread. The lease keeper takes the list of its values in its own thread, in one step.
    """

    def __init__(self, jobs: Iterable[HeldJob] = ()) -> None:
        super().__init__()
        self._listeners: list[Callable[[Sequence[HeldJob]], object]] = []
        self.add(jobs)

    def subscribe(self, listener: Callable[[Sequence[HeldJob]], object]) -> None:
        """Have this called with the jobs of each batch whose outcomes are written."""
        self._listeners.append(listener)

    def add(self, jobs: Iterable[HeldJob]) -> None:
        """Hold claimed jobs. A former attempt of one of them is lost: this claim has ended it."""
        for held in jobs:
            if (former := self.get(held.id)) is not None:
                former.lose("taken_by_another_worker")
            self[held.id] = held

    def drop(self, held: HeldJob) -> None:
        """Hold this attempt no more. A newer attempt of the same job, claimed meanwhile, stays."""
        if self.get(held.id) is held:
            del self[held.id]

    def settled(self, jobs: Sequence[HeldJob]) -> None:
        """The outcomes of these jobs are written: drop them, and tell who has subscribed."""
        for held in jobs:
            self.drop(held)
        for listener in self._listeners:
            listener(jobs)
