"""A job under this worker's lease, from claim to acknowledged outcome; the line of those that wait for a slot; all of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from time import monotonic
from typing import Any
from uuid import UUID

import msgspec
import trio

from leasehold.actors.attempts.run_clock import RunClock
from leasehold.database import Row
from leasehold.jobs.job import Job
from leasehold.jobs.job_host import JobHost
from leasehold.jobs.kind import Kind

CancelNote = tuple[str | None, str | None]
"""What was said with a cancel, and who said it."""

_decoder = msgspec.json.Decoder(dict[str, Any])
CANCELLED = "cancelled"
"""The reason for cancelling a handler when somebody has cancelled its job."""
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


class HeldJob:
    """One claimed job. It belongs to the worker's trio thread; the lease keeper shares it from a thread of its own.

    Two threads share only single attributes, each written by one of them. A test holds this table:

    Written by (all others only read, or call the methods):
        self: every attribute, when it is made; `lost`, `cancel_note`, `was_in_time`, `scope` and `clock` in its methods.
        leases/keeper.py: `renew_at`, `shown`, `trusted_until` (in the keeper's thread).
        leases/watcher.py: `watched`.
        running/slot.py: `started`, `is_left`.
        running/large_values.py: `args`.
        running/attempt_session.py: `settling`.
        running/settler.py: `settling`.
        worker/epoch_change.py: `incarnation`.

    Read in the keeper's thread: `attempt`, `id`, `lease`, `lost`, `renew_at`, `row`, `settling`, `shown`, `started`.
    """

    __slots__ = (
        "args", "attempt", "cancel_note", "claimed_at", "clock", "deadline", "extras", "id", "incarnation", "is_left", "kind",
        "lease", "lost", "renew_at", "row", "scope", "settling", "shown", "started", "timeout", "trusted_until", "was_in_time",
        "watched",
    )  # fmt: skip

    def __init__(
        self, row: Row, kind: Kind[..., Any], claimed_at: float, renew_after: float, incarnation: UUID
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
        self.cancel_note: CancelNote = (None, None)
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

    def lose(self, reason: str, note: CancelNote | None = None) -> None:
        """The lease is gone: cancel the handler. Nothing is written for this attempt any more."""
        if self.lost is None and not self.settling:
            self.cancel_note = note or self.cancel_note  # first: a thread may look as soon as the job is lost
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

    def job(self, worker_id: str, host: JobHost | None = None) -> Job:
        """The job as its handler sees it. Its methods call `host`; without one they raise that there is no worker."""
        row = self.row
        metadata = row["metadata"]
        job = Job(
            id=self.id,
            kind=row["kind"],
            queue=row["queue"],
            attempt=self.attempt,
            max_attempts=row["max_attempts"],
            incarnation=self.incarnation,
            worker_id=worker_id,
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


class Backlog:
    """A line of claimed jobs. Slots take from it without waiting while it has any.

    Once it is closed and empty, every slot ends.
    """

    def __init__(self) -> None:
        self._line: deque[HeldJob] = deque()
        self._idle = trio.lowlevel.ParkingLot()
        self._woken = 0
        self._dismissed = 0
        self._listeners: list[Callable[[], object]] = []
        self.closed = False

    def __len__(self) -> int:
        return len(self._line)

    @property
    def idle_slots(self) -> int:
        """Slots that wait for a job, or were woken and have not taken it yet: it is still in the line."""
        return len(self._idle) + self._woken

    @property
    def oldest(self) -> HeldJob | None:
        """The job that has waited longest."""
        return self._line[0] if self._line else None

    def extend(self, jobs: list[HeldJob]) -> None:
        """Append jobs and wake as many idle slots."""
        self._line.extend(jobs)
        self._woken += len(self._idle.unpark(count=len(jobs)))

    def subscribe(self, listener: Callable[[], object]) -> None:
        """Have this called when slots ask for more jobs."""
        self._listeners.append(listener)

    def ask_for_more(self) -> None:
        """A slot finds no job, or has taken some."""
        for listener in self._listeners:
            listener()

    async def take(self) -> HeldJob | None:
        """The next job; None when the backlog is closed and empty, or this slot must end. A checkpoint if it waits."""
        while not self._line:
            if self.closed or self.lets_go():
                return None
            await self._idle.park()
            self._woken -= 1
        return self._line.popleft()

    def dismiss(self, slots: int) -> None:
        """Have this many slots end: waiting ones at once, others when they ask `lets_go` or find the line empty."""
        self._dismissed += slots
        self._woken += len(self._idle.unpark(count=slots))

    def recall(self, slots: int) -> int:
        """Keep up to `slots` of the dismissed slots that have not ended yet; returns how many."""
        kept = min(slots, self._dismissed)
        self._dismissed -= kept
        return kept

    def lets_go(self) -> bool:
        """Whether the slot that asks must end. Each True counts as one dismissed slot."""
        if not self._dismissed:
            return False
        self._dismissed -= 1
        return True

    def clear(self) -> list[HeldJob]:
        """Take all of them out."""
        taken = list(self._line)
        self._line.clear()
        return taken

    def take_out(self, queues: Collection[str]) -> list[HeldJob]:
        """Take those of some queues out."""
        line = self.clear()
        self._line.extend(held for held in line if held.row["queue"] not in queues)
        return [held for held in line if held.row["queue"] in queues]

    def close(self) -> None:
        """No more will come."""
        self.closed = True
        self._woken += len(self._idle.unpark_all())


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
