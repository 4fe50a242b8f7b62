"""One batch of outcomes, written with a guarded statement for each kind of end."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from operator import attrgetter
from time import monotonic
from typing import Any, TypeVar

import msgspec

from leasehold.actors.attempts.announcer import Announcer
from leasehold.actors.attempts.held_job import HeldJob
from leasehold.actors.attempts.outcome import (
    Blocked,
    Committed,
    Completed,
    Continued,
    Failed,
    Outcome,
    Released,
    Rescheduled,
    sanitized,
)
from leasehold.actors.attempts.progress import ProgressBuffer, report_progress
from leasehold.actors.identity import WorkerIdentity
from leasehold.database import Caller, Row
from leasehold.errors import BadInput, Conflict, DatabaseUnavailable, EpochOver, LockTimeout, NotFound, QueryRefused

log = logging.getLogger(__name__)

MOST_CONTINUATION_BYTES = 4_000_000
MOST_LOCK_WAITS = 10
"""In one batch: each costs half a second, and halving 500 outcomes down to one costs nine."""
BY_ID = attrgetter("held.id")
REFUSALS = (BadInput, QueryRefused, NotFound, Conflict)
RETURNS = frozenset({"attempt_failed", "rescheduled", "released", "blocked"})
"""Events in a job's timeline which show that an attempt's outcome was written, and did not end the job."""
BUSY = "busy"
"""The reason of a refusal while another session holds the row: the attempt still has its job."""
Kept = TypeVar("Kept", Completed, Failed, Rescheduled, Released, Continued, Blocked)


class Settlement:
    """Writes batches over one connection. It does not wait long for locks: outcomes that need them are left over.

    Attributes:
        counts: since the start, by what became of the outcomes; and statements.
    """

    def __init__(
        self, connection: Caller, identity: WorkerIdentity, announcer: Announcer, buffer: ProgressBuffer
    ) -> None:
        self._connection = connection
        self._identity = identity
        self._announcer = announcer
        self._buffer = buffer
        self._unanswered: set[int] = set()
        self._written: set[HeldJob] = set()
        self._left: list[Outcome] = []
        self._lock_waits, self._most_lock_waits = 0, MOST_LOCK_WAITS
        self.counts = {"completed": 0, "failed": 0, "returned": 0, "refused": 0, "repeated": 0, "statements": 0}

    async def warm_up(self) -> None:
        """Connect and have the commonest statement planned. Raises DatabaseUnavailable."""
        await self._connection.call("complete_jobs", self._identity.incarnation, [], [], [], [])

    @property
    def has_waited(self) -> bool:
        """Whether somebody's lock held up the last batch."""
        return self._lock_waits > 0

    async def write(self, batch: list[Outcome], *, most_lock_waits: int = MOST_LOCK_WAITS) -> list[Outcome]:
        """Write outcomes, in order of the jobs' ids; returns those that another session keeps from being written.

        After `most_lock_waits` waits for locks, it returns everything that is not written yet.

        Raises DatabaseUnavailable: some may be written; call it again with all of them, and it writes the others.
        """
        self._left, self._lock_waits, self._most_lock_waits = [], 0, most_lock_waits
        if self._identity.is_changing_epoch:
            raise EpochOver
        incarnation = self._identity.incarnation
        todo = [outcome for outcome in batch if outcome.held not in self._written] if self._written else batch
        todo = sorted(self._without_former(todo), key=BY_ID)
        try:
            if self._buffer.has_progress:
                await self._write_final_progress(todo)
            await self._write(todo)
            if incarnation is not self._identity.incarnation:
                raise EpochOver
        except DatabaseUnavailable:
            self._unanswered.update(outcome.held.id for outcome in todo if outcome.held not in self._written)
            self._written.difference_update(outcome.held for outcome in self._left)
            raise
        self._unanswered.clear()
        self._written.clear()
        return self._left

    async def list_holders(self, job_ids: list[int]) -> list[Row]:
        """The sessions that hold the rows of these jobs, as `leasehold.list_row_holders` names them."""
        return await self._connection.call("list_row_holders", job_ids)

    def _without_former(self, batch: Sequence[Outcome]) -> list[Outcome]:
        """Leave out attempts of a former incarnation that the database forgot: their tokens may be others' by now."""
        present = self._identity.incarnation
        former = [outcome for outcome in batch if outcome.held.incarnation is not present]
        for outcome in former:
            self.counts["refused"] += 1
            text = "job %s: outcome dropped, the database has forgotten attempt %s in a failover or a restore"
            log.warning(text, outcome.held.id, outcome.held.attempt, extra={"job_id": outcome.held.id})
        dropped = {id(outcome) for outcome in former}
        return [outcome for outcome in batch if id(outcome) not in dropped] if dropped else list(batch)

    async def _write_final_progress(self, batch: list[Outcome]) -> None:
        """Write the last progress of these jobs, while this worker still holds them."""
        async with self._buffer.write_lock:
            if reports := self._buffer.latest({outcome.held.id for outcome in batch}):
                self.counts["statements"] += 1
                await report_progress(self._connection, self._identity.incarnation, reports)
                self._buffer.written(reports)

    async def _write(self, batch: list[Outcome]) -> None:
        if done := [outcome for outcome in batch if isinstance(outcome, Completed)]:
            await self._in_parts(self._complete, done)
            if len(done) == len(batch):
                return
        if broken := [outcome for outcome in batch if isinstance(outcome, Failed)]:
            await self._in_parts(self._fail, broken)
        if later := [outcome for outcome in batch if isinstance(outcome, Rescheduled)]:
            await self._in_parts(self._reschedule, later)
        if unstarted := [outcome for outcome in batch if isinstance(outcome, Released)]:
            await self._in_parts(self._release, unstarted)
        for portion in _portions([outcome for outcome in batch if isinstance(outcome, Continued)]):
            await self._in_parts(self._continue, portion)
        if waiting := [outcome for outcome in batch if isinstance(outcome, Blocked)]:
            await self._in_parts(self._block, waiting)
        self._note_committed([outcome for outcome in batch if isinstance(outcome, Committed)])

    async def _in_parts(self, write: Callable[[Sequence[Kept]], Awaitable[None]], outcomes: Sequence[Kept]) -> None:
        """Write outcomes. If Postgres refuses, or a lock is in the way, halve them until the one that causes it is
        found: it must not hold up the others."""
        if self._lock_waits >= self._most_lock_waits:
            self._left += outcomes
            return
        try:
            await write(outcomes)
            self._written.update(outcome.held for outcome in outcomes)
            return
        except LockTimeout:
            self._lock_waits += 1
            if len(outcomes) == 1:
                self._left += outcomes
                return
        except REFUSALS as error:
            if len(outcomes) == 1:
                await self._fail_instead(outcomes[0], error)
                return
        middle = len(outcomes) // 2
        await self._in_parts(write, outcomes[:middle])
        await self._in_parts(write, outcomes[middle:])

    async def _fail_instead(self, outcome: Outcome, error: Exception) -> None:
        """Fail the job whose outcome cannot be kept. Raises the error where that is refused as well."""
        if isinstance(outcome, Failed):
            raise error
        name = "InvalidContinuation" if isinstance(outcome, (Continued, Blocked)) else "InvalidOutput"
        refused = {"type": name, "message": sanitized(str(error)), "traceback": ""}
        await self._in_parts(self._fail, [Failed(outcome.held, refused, discard=True)])

    async def _complete(self, outcomes: Sequence[Completed]) -> None:
        now = monotonic()
        rows = await self._call(
            "complete_jobs", outcomes, [o.output for o in outcomes], [o.held.ran_for(now) for o in outcomes]
        )
        await self._note("completed", outcomes, rows)
        self._announcer.completed(outcomes, rows)

    async def _continue(self, outcomes: Sequence[Continued]) -> None:
        now = monotonic()
        rows = await self._call(
            "continue_jobs",
            outcomes,
            [o.continuation for o in outcomes],
            [o.output for o in outcomes],
            [o.held.ran_for(now) for o in outcomes],
        )
        refusals = [row for row in rows if row["reason"] is not None]
        await self._note("completed", outcomes, refusals)
        new_ids = {row["job_id"]: row["new_ids"] for row in rows if row["reason"] is None}
        self._announcer.continued([(each, new_ids[each.held.id]) for each in outcomes if each.held.id in new_ids])

    async def _block(self, outcomes: Sequence[Blocked]) -> None:
        rows = await self._call("block_jobs", outcomes, [o.wait for o in outcomes])
        await self._note("returned", outcomes, rows)
        self._announcer.blocked(outcomes, rows)

    def _note_committed(self, outcomes: Sequence[Committed]) -> None:
        self.counts["completed"] += len(outcomes)
        self._announcer.continued([(each, each.new_ids) for each in outcomes])

    async def _fail(self, outcomes: Sequence[Failed]) -> None:
        now = monotonic()
        policies = [o.held.kind.options.retry or self._identity.retry for o in outcomes]
        steps = [policy.step for policy in policies]
        rows = await self._call(
            "fail_jobs",
            outcomes,
            [msgspec.json.encode(o.error).decode() for o in outcomes],
            [o.held.ran_for(now) for o in outcomes],
            [o.discard for o in outcomes],
            [o.retry_in for o in outcomes],
            [policy.initial for policy in policies],
            [policy.multiplier for policy in policies],
            [policy.cap for policy in policies],
            **({"step": steps} if any(step is not None for step in steps) else {}),
        )
        await self._note("failed", outcomes, [row for row in rows if row["outcome"] == "refused"])
        by_id = {row["job_id"]: row for row in rows}
        self._announcer.failed(outcomes, by_id, self._unanswered)

    async def _reschedule(self, outcomes: Sequence[Rescheduled]) -> None:
        afters, ats = [o.after for o in outcomes], [o.at for o in outcomes]
        rows = await self._call("reschedule_jobs", outcomes, afters, [o.reason for o in outcomes], ats)
        committing = {o.held.id for o in outcomes if o.held.settling}  # an outage took the answer to the commit
        refused = [row for row in rows if row["reason"] != "already_completed" or row["job_id"] not in committing]
        await self._note("returned", outcomes, refused)
        self._announcer.rescheduled(outcomes, rows)

    async def _release(self, outcomes: Sequence[Released]) -> None:
        now = monotonic()
        if begun := [outcome for outcome in outcomes if outcome.held.started is not None]:
            # Else a handler that was cancelled in its first moments would give the token of a rate limit back.
            leases, ran_for = [o.held.lease for o in begun], [o.held.ran_for(now) for o in begun]
            await self._call("renew_leases", begun, leases, ran_for)
        rows = await self._call("release_jobs", outcomes)
        await self._note("returned", outcomes, rows)
        self._announcer.released(outcomes, rows)

    async def _call(self, function: str, outcomes: Sequence[Outcome], *more: list[Any], **named: Any) -> list[Row]:
        self.counts["statements"] += 1
        ids = [outcome.held.id for outcome in outcomes]
        attempts = [outcome.held.attempt for outcome in outcomes]
        return await self._connection.call(function, self._identity.incarnation, ids, attempts, *more, **named)

    async def _note(self, what: str, outcomes: Sequence[Outcome], refusals: Sequence[Row]) -> None:
        self.counts[what] += len(outcomes) - len(refusals)
        for row in refusals:
            job_id, reason = row["job_id"], row["reason"]
            if reason == BUSY:
                self._left += [outcome for outcome in outcomes if outcome.held.id == job_id]
                continue
            if job_id in self._unanswered and await self._was_written(job_id, outcomes):
                self.counts["repeated"] += 1
                log.debug("job %s: outcome repeated, the first one was heard", job_id, extra={"job_id": job_id})
                continue
            self.counts["refused"] += 1
            log.warning("job %s: outcome refused, %s", job_id, reason, extra={"job_id": job_id, "reason": reason})

    async def _was_written(self, job_id: int, outcomes: Sequence[Outcome]) -> bool:
        """Whether the job's timeline has the end of this attempt: then it was written, and only the reply was lost."""
        attempts = {outcome.held.attempt for outcome in outcomes if outcome.held.id == job_id}
        rows = await self._connection.call("get_job_timeline", job_id)
        return any(row["attempt"] in attempts and row["event"] in RETURNS for row in rows)


def _portions(outcomes: Sequence[Continued]) -> list[list[Continued]]:
    """Split outcomes into lists that fit into one statement each. One that is too large has a list of its own."""
    portions: list[list[Continued]] = []
    room = 0
    for outcome in outcomes:
        size = len(outcome.continuation)
        if size > room:
            portions.append([])
            room = MOST_CONTINUATION_BYTES
        portions[-1].append(outcome)
        room -= size
    return portions
