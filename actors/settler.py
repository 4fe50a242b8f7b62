"""Writes outcomes: many at a time, sorted, guarded; an outcome counts when its commit has been acknowledged."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from operator import attrgetter
from time import monotonic
from typing import Any, TypeVar
from uuid import UUID

import msgspec
import trio

from leasehold.actors.announcer import SILENT, Announcer
from leasehold.actors.held import Held, Holdings, drop
from leasehold.actors.outcome import (
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
from leasehold.database import Caller, Row
from leasehold.errors import BadInput, Conflict, DatabaseUnavailable, NotFound, QueryRefused
from leasehold.notify.signal import Signal

log = logging.getLogger("leasehold.settler")

GATHER_SECONDS = 0.002
MOST_ROWS = 500
MOST_WAITING = 5_000
MOST_NAMED = 10
MOST_CONTINUATION_BYTES = 4_000_000
BY_ID = attrgetter("held.id")

REFUSALS = (BadInput, QueryRefused, NotFound, Conflict)
RETURNS = frozenset({"attempt_failed", "rescheduled", "released", "blocked"})
"""What a timeline says of an attempt whose write was heard and left the job unfinished."""

Kept = TypeVar("Kept", Completed, Failed, Rescheduled, Released, Continued, Blocked)


class SettlerStatistics(msgspec.Struct, frozen=True):
    """Counts since the start: settled outcomes by what they were, refused ones, statements sent; and outcomes waiting.

    Attributes:
        completed: also those that continue their chain, and those whose handler committed them.
        returned: rescheduled, blocked and released.
        repeated: written again after a lost reply, and found to have been heard the first time.
    """

    completed: int
    failed: int
    returned: int
    refused: int
    repeated: int
    statements: int
    waiting: int


class Settler:
    """Takes outcomes from the slots and writes them over its own connection.

    After a lost connection the same outcomes are written again: an attempt that has been settled already is not refused.
    """

    name = "settler"

    def __init__(
        self, lane: Caller, incarnation: UUID, holdings: Holdings, settled: Callable[[int], object],
        announcer: Announcer = SILENT,
    ) -> None:  # fmt: skip
        self._lane = lane
        self._incarnation = incarnation
        self._holdings = holdings
        self._settled = settled
        self._announcer = announcer
        self._waiting: deque[Outcome] = deque()
        self._arrived = Signal()
        self._room = trio.Event()
        self._room.set()
        self._wrote = trio.Event()
        self._counts = {"completed": 0, "failed": 0, "returned": 0, "refused": 0, "repeated": 0, "statements": 0}
        self._unanswered: set[int] = set()

    def put(self, outcome: Outcome) -> None:
        """Take an outcome. Never waits; callers that may wait ask `room` first."""
        outcome.held.settling = True
        self._waiting.append(outcome)
        if len(self._waiting) == 1:
            self._arrived.set()
        elif len(self._waiting) > MOST_WAITING and self._room.is_set():
            self._room = trio.Event()

    @property
    def is_crowded(self) -> bool:
        """Whether slots should wait with `room` before they take the next job."""
        return not self._room.is_set()

    async def room(self) -> None:
        """Wait while too many outcomes are unwritten."""
        await self._room.wait()

    async def warm_up(self) -> None:
        """Connect and have the commonest statement planned. Raises DatabaseUnavailable."""
        await self._lane.call("complete_jobs", self._incarnation, [], [], [], [])

    async def run(self) -> None:
        """Write outcomes until cancelled. Raises DatabaseUnavailable; called again, it goes on where it was."""
        while True:
            if not self._waiting:
                await self._arrived.wait()
            if len(self._waiting) < MOST_ROWS:
                await trio.sleep(GATHER_SECONDS)
            await self.flush()

    async def written(self) -> None:
        """Wait until every outcome taken so far is written."""
        while self._waiting:
            self._arrived.set()
            await self._wrote.wait()

    async def flush(self) -> None:
        """Write what is waiting now."""
        while self._waiting:
            batch = list(islice(self._waiting, MOST_ROWS))
            try:
                await self._write(batch)
            except DatabaseUnavailable:
                self._unanswered.update(outcome.held.id for outcome in batch)
                raise
            self._unanswered.clear()
            self._announcer.batch_written()
            for _ in batch:
                self._waiting.popleft()
            for outcome in batch:
                drop(self._holdings, outcome.held)
            self._settled(len(batch))
            self._wrote.set()
            self._wrote = trio.Event()
            if not self._room.is_set() and len(self._waiting) < MOST_WAITING // 2:
                self._room.set()
            if len(self._waiting) < MOST_ROWS // 2:
                break

    async def _write(self, batch: list[Outcome]) -> None:
        batch.sort(key=BY_ID)
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
        """Write outcomes; where Postgres refuses, halve them until the one is found that must not hold up the others."""
        try:
            await write(outcomes)
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
        await self._fail([Failed(outcome.held, refused, discard=True)])

    async def _complete(self, outcomes: Sequence[Completed]) -> None:
        now = monotonic()
        rows = await self._call(
            "complete_jobs", outcomes, [o.output for o in outcomes], [_ran_for(o.held, now) for o in outcomes]
        )
        await self._note("completed", outcomes, rows)
        _log_completions(outcomes, rows)
        self._announcer.completed(outcomes, rows)

    async def _continue(self, outcomes: Sequence[Continued]) -> None:
        now = monotonic()
        rows = await self._call(
            "continue_jobs", outcomes, [o.continuation for o in outcomes], [o.output for o in outcomes],
            [_ran_for(o.held, now) for o in outcomes],
        )  # fmt: skip
        refusals = [row for row in rows if row["reason"] is not None]
        await self._note("completed", outcomes, refusals)
        new_ids = {row["job_id"]: row["new_ids"] for row in rows if row["reason"] is None}
        for outcome in outcomes:
            if outcome.held.id in new_ids:
                self._announcer.continued(outcome, new_ids[outcome.held.id])

    async def _block(self, outcomes: Sequence[Blocked]) -> None:
        rows = await self._call("block_jobs", outcomes, [o.wait for o in outcomes])
        await self._note("returned", outcomes, rows)
        self._announcer.blocked(outcomes, rows)

    def _note_committed(self, outcomes: Sequence[Committed]) -> None:
        self._counts["completed"] += len(outcomes)
        for outcome in outcomes:
            self._announcer.continued(outcome, outcome.new_ids)

    async def _fail(self, outcomes: Sequence[Failed]) -> None:
        now = monotonic()
        policies = [o.held.kind.options.retry for o in outcomes]
        rows = await self._call(
            "fail_jobs",
            outcomes,
            [msgspec.json.encode(o.error).decode() for o in outcomes],
            [_ran_for(o.held, now) for o in outcomes],
            [o.discard for o in outcomes],
            [o.retry_in for o in outcomes],
            [policy.initial for policy in policies],
            [policy.multiplier for policy in policies],
            [policy.cap for policy in policies],
        )
        await self._note("failed", outcomes, [row for row in rows if row["outcome"] == "refused"])
        by_id = {row["job_id"]: row for row in rows}
        _log_failures(outcomes, by_id)
        self._announcer.failed(outcomes, by_id)

    async def _reschedule(self, outcomes: Sequence[Rescheduled]) -> None:
        rows = await self._call("reschedule_jobs", outcomes, [o.after for o in outcomes], [o.reason for o in outcomes])
        await self._note("returned", outcomes, rows)
        self._announcer.rescheduled(outcomes, rows)

    async def _release(self, outcomes: Sequence[Released]) -> None:
        rows = await self._call("release_jobs", outcomes)
        await self._note("returned", outcomes, rows)
        self._announcer.released(outcomes, rows)

    async def _call(self, function: str, outcomes: Sequence[Outcome], *more: list[Any]) -> list[Row]:
        self._counts["statements"] += 1
        ids = [outcome.held.id for outcome in outcomes]
        attempts = [outcome.held.attempt for outcome in outcomes]
        return await self._lane.call(function, self._incarnation, ids, attempts, *more)

    async def _note(self, what: str, outcomes: Sequence[Outcome], refusals: Sequence[Row]) -> None:
        self._counts[what] += len(outcomes) - len(refusals)
        for row in refusals:
            job_id, reason = row["job_id"], row["reason"]
            if job_id in self._unanswered and await self._was_heard(job_id, outcomes):
                self._counts["repeated"] += 1
                log.debug("job %s: outcome repeated, the first one was heard", job_id, extra={"job_id": job_id})
                continue
            self._counts["refused"] += 1
            log.warning("job %s: outcome refused, %s", job_id, reason, extra={"job_id": job_id, "reason": reason})

    async def _was_heard(self, job_id: int, outcomes: Sequence[Outcome]) -> bool:
        """Whether the job's timeline tells of this very attempt's end: then its write was carried out, and only the reply
        was lost."""
        attempts = {outcome.held.attempt for outcome in outcomes if outcome.held.id == job_id}
        rows = await self._lane.call("get_job_timeline", job_id)
        return any(row["attempt"] in attempts and row["event"] in RETURNS for row in rows)

    def statistics(self) -> SettlerStatistics:
        """Counts since the start."""
        return SettlerStatistics(**self._counts, waiting=len(self._waiting))


def _ran_for(held: Held, now: float) -> float:
    return now - held.started if held.started is not None else 0.0


def _log_completions(outcomes: Sequence[Completed], refusals: Sequence[Row]) -> None:
    if not log.isEnabledFor(logging.INFO):
        return
    if len(outcomes) > MOST_NAMED:
        log.debug("%d jobs completed", len(outcomes) - len(refusals))
        return
    refused = {row["job_id"] for row in refusals}
    now = monotonic()
    for outcome in outcomes:
        held = outcome.held
        if held.id not in refused:
            log.info(
                "completed job %s of kind %s in %.3f s", held.id, held.row["kind"], _ran_for(held, now),
                extra={"job_id": held.id, "kind": held.row["kind"], "attempt": held.attempt},
            )  # fmt: skip


def _portions(outcomes: Sequence[Continued]) -> list[list[Continued]]:
    """Outcomes in lists that are not too much for one statement each, unless a single one is."""
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


def _log_failures(outcomes: Sequence[Failed], rows: dict[int, Row]) -> None:
    for outcome in outcomes:
        row = rows.get(outcome.held.id)
        if row is None:
            log.warning(
                "job %s: attempt %s raised after it had completed the job (%s: %s)",
                outcome.held.id, outcome.held.attempt, outcome.error["type"], outcome.error["message"],
                extra={"job_id": outcome.held.id, "attempt": outcome.held.attempt},
            )  # fmt: skip
        elif row["outcome"] != "refused":
            log.warning(
                "job %s of kind %s failed attempt %s (%s: %s), now %s",
                outcome.held.id, outcome.held.row["kind"], outcome.held.attempt, outcome.error["type"],
                outcome.error["message"], row["outcome"],
                extra={"job_id": outcome.held.id, "kind": outcome.held.row["kind"], "attempt": outcome.held.attempt},
            )  # fmt: skip
