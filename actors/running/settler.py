"""Writes outcomes: many at a time, sorted, guarded; an outcome counts when its commit has been acknowledged."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from itertools import islice
from math import inf
from time import monotonic

import msgspec
import trio

from leasehold.actors.attempts.announcer import SILENT, Announcer
from leasehold.actors.attempts.held_job import HeldJob, Holdings
from leasehold.actors.attempts.outcome import Outcome
from leasehold.actors.attempts.progress import ProgressBuffer
from leasehold.actors.identity import WorkerIdentity
from leasehold.actors.running.settlement import Settlement
from leasehold.concurrency.signal import Signal
from leasehold.database import Caller

log = logging.getLogger(__name__)

FIRST_SECONDS = 0.02
LONGEST_SECONDS = 5.0
LATE_AFTER = 1.0
GATHER_SECONDS = 0.002
MOST_ROWS = 500
MOST_WAITING = 5_000
STUCK_SECONDS = 2.0
BACK_OFF_SECONDS = 0.5
RETRY_PAUSE = 1.0
"""Between two tries of leftovers, once one has waited for a lock: new outcomes must have their turn."""


class Leftover(msgspec.Struct, eq=False):
    """One outcome. Times are seconds on the monotonic clock.

    Attributes:
        due: when it is tried again.
        wait: how long it waits before the try after that; doubles.
        since: when it was left over for the first time.
        is_reported: whether it was logged.
    """

    outcome: Outcome
    due: float
    wait: float
    since: float
    is_reported: bool = False


class Leftovers:
    """All leftovers of one worker. `now` is in seconds on the monotonic clock."""

    def __init__(self) -> None:
        self._all: dict[HeldJob, Leftover] = {}

    def __len__(self) -> int:
        return len(self._all)

    def job_ids(self) -> list[int]:
        """Of all jobs whose outcomes are left over, ascending."""
        return sorted(held.id for held in self._all)

    def keep(self, outcome: Outcome, now: float) -> None:
        """It could not be written at `now`: try it again after a wait that doubles, up to five seconds."""
        kept = self._all.get(outcome.held)
        if kept is None:
            self._all[outcome.held] = Leftover(outcome, now + FIRST_SECONDS, 2 * FIRST_SECONDS, now)
        else:
            kept.due, kept.wait = now + kept.wait, min(LONGEST_SECONDS, 2 * kept.wait)

    def forget(self, tried: Sequence[Outcome], left: Sequence[Outcome]) -> None:
        """Forget the outcomes in `tried` that are not in `left`: they are written."""
        still = {outcome.held for outcome in left}
        for outcome in tried:
            if outcome.held not in still:
                self._all.pop(outcome.held, None)

    def due(self, now: float) -> list[Outcome]:
        """Those to try now, the longest due first."""
        ready = sorted((each for each in self._all.values() if each.due <= now), key=lambda each: each.due)
        return [each.outcome for each in ready]

    def due_in(self, now: float) -> float:
        """Seconds until the next is due; infinite where there is none."""
        return max(0.0, min((each.due for each in self._all.values()), default=inf) - now)

    def hurry(self, now: float) -> None:
        """Try all of them now, and often from now on: the worker ends soon."""
        for each in self._all.values():
            each.due, each.wait = now, FIRST_SECONDS

    def late(self, now: float) -> int:
        """How many have been left over for a second or longer."""
        return sum(now - each.since >= LATE_AFTER for each in self._all.values())

    def untold(self, now: float) -> list[int]:
        """The jobs to log now, each once: their outcomes have been left over for a second or longer."""
        found = [each for each in self._all.values() if not each.is_reported and now - each.since >= LATE_AFTER]
        for each in found:
            each.is_reported = True
        return sorted(each.outcome.held.id for each in found)


class Outcomes:
    """A line of outcomes, from the slots to the settler.

    Attributes:
        arrived: set by the first one that waits.
        stands_since: when the line last moved, on the monotonic clock.
    """

    def __init__(self) -> None:
        self._line: deque[Outcome] = deque()
        self._room = trio.Event()
        self._room.set()
        self.arrived = Signal()
        self.stands_since = monotonic()

    def __len__(self) -> int:
        return len(self._line)

    def put(self, outcome: Outcome) -> None:
        """Append an outcome. Never waits; callers that may wait ask `room` first."""
        outcome.held.settling = True
        self._line.append(outcome)
        if len(self._line) == 1:
            self.stands_since = monotonic()
            self.arrived.set()
        elif len(self._line) > MOST_WAITING and self._room.is_set():
            self._room = trio.Event()

    @property
    def is_crowded(self) -> bool:
        """Whether slots should wait with `room` before they take the next job."""
        return not self._room.is_set()

    async def room(self) -> None:
        """Wait while too many outcomes are unwritten."""
        await self._room.wait()

    def first(self, most: int) -> list[Outcome]:
        """Those that have waited longest. They stay in the line."""
        return list(islice(self._line, most))

    def remove(self, count: int) -> None:
        """So many of the first are written."""
        for _ in range(count):
            self._line.popleft()
        self.stands_since = monotonic()
        if len(self._line) < MOST_WAITING // 2:
            self._room.set()


class SettlerStatistics(msgspec.Struct, frozen=True):
    """Counts since the start: settled outcomes by what they were, refused ones, statements sent; and outcomes waiting.

    Attributes:
        completed: also those that continue their chain, and those whose handler committed them.
        returned: rescheduled, blocked and released.
        repeated: written again after a lost reply, and found to have been heard the first time.
        left_over: of those waiting, the ones that other sessions keep from being written.
    """

    completed: int
    failed: int
    returned: int
    refused: int
    repeated: int
    statements: int
    waiting: int
    left_over: int


class Settler:
    """Writes the outcomes of the slots over its own connection.

    After a lost connection it writes the same outcomes again: an attempt that is settled already is not refused. It
    does not wait for other sessions: an outcome whose row a session holds is tried again, and the others go on.

    Attributes:
        outcomes: those that wait, but for the ones left over.
    """

    name = "settler"

    def __init__(
        self,
        connection: Caller,
        identity: WorkerIdentity,
        holdings: Holdings,
        announcer: Announcer = SILENT,
        buffer: ProgressBuffer | None = None,
    ) -> None:
        self._settlement = Settlement(connection, identity, announcer, buffer or ProgressBuffer())
        self._holdings = holdings
        self.outcomes = Outcomes()
        self._wrote = trio.Event()
        self._leftovers = Leftovers()
        self._retry_at = 0.0
        self._is_backing_off = False
        self._is_jammed = False

    def back_off_for(self, slots: int) -> float:
        """Seconds for which the worker should claim nothing, because its outcomes cannot be written; 0: claim.

        It claims nothing if nothing was written for two seconds although outcomes wait, if too many wait, or if other
        sessions have kept as many outcomes from being written as there are slots, each for a second.
        """
        stands = bool(self.outcomes) and monotonic() - self.outcomes.stands_since >= STUCK_SECONDS
        is_held_up = self._leftovers.late(monotonic()) >= max(1, slots) or len(self._leftovers) >= MOST_WAITING
        is_backing_off = stands or self.outcomes.is_crowded or is_held_up
        if is_backing_off and not self._is_backing_off:
            waiting = len(self.outcomes) + len(self._leftovers)
            log.warning("claiming nothing more until outcomes can be written; %d wait", waiting)
        self._is_backing_off = is_backing_off
        return BACK_OFF_SECONDS if is_backing_off else 0.0

    async def warm_up(self) -> None:
        """Connect and have the commonest statement planned. Raises DatabaseUnavailable."""
        await self._settlement.warm_up()

    async def run(self) -> None:
        """Write outcomes until cancelled. Raises DatabaseUnavailable; called again, it goes on where it was."""
        while True:
            if not self.outcomes:
                now = monotonic()
                await self.outcomes.arrived.wait(max(self._leftovers.due_in(now), self._retry_at - now))
            # Where the worker holds no other job, none can join these.
            if len(self.outcomes) < min(MOST_ROWS, len(self._holdings)):
                await trio.sleep(GATHER_SECONDS)
            await self.flush()

    async def written(self) -> None:
        """Wait until every outcome taken so far is written. Those left over are tried again and again meanwhile."""
        self._leftovers.hurry(monotonic())
        self._retry_at = 0.0
        while self.outcomes or self._leftovers:
            self.outcomes.arrived.set()
            await self._wrote.wait()

    async def describe_unwritten(self) -> str:
        """What waits, for people: how many outcomes, and which sessions keep them. Raises DatabaseUnavailable."""
        held_up = await self._holders(self._leftovers.job_ids())
        return f"{len(self.outcomes) + len(self._leftovers)} outcomes{'; ' if held_up else ''}{'; '.join(held_up)}"

    async def flush(self) -> None:
        """Write what is waiting now, and what is left over and due. Raises DatabaseUnavailable."""
        await self._flush_waiting()
        if self._leftovers:
            await self._flush_leftovers()

    async def _flush_waiting(self) -> None:
        while self.outcomes:
            batch = self.outcomes.first(MOST_ROWS)
            left = await self._settlement.write(batch)
            self.outcomes.remove(len(batch))
            self._keep(left)
            self._ended(batch, left)
            if len(self.outcomes) < MOST_ROWS // 2:
                break

    async def _flush_leftovers(self) -> None:
        """Try all leftovers that are due. Once one has waited for a lock, try them one by one until the next such wait,
        so that new outcomes have their turn."""
        now = monotonic()
        if now < self._retry_at:
            return
        due = self._leftovers.due(now)
        for batch in [[outcome] for outcome in due] if self._is_jammed else [due] if due else []:
            left = await self._settlement.write(list(batch), most_lock_waits=1)
            self._leftovers.forget(batch, left)
            self._keep(left)
            self._ended(batch, left)
            if self._settlement.has_waited:
                self._is_jammed = True
                self._retry_at = monotonic() + RETRY_PAUSE
                break
        self._is_jammed = self._is_jammed and bool(self._leftovers)
        if untold := self._leftovers.untold(monotonic()):
            for text in await self._holders(untold):
                log.warning("an outcome waits and is tried again: %s", text, extra={"job_ids": untold})

    def _keep(self, left: list[Outcome]) -> None:
        now = monotonic()
        for outcome in left:
            self._leftovers.keep(outcome, now)

    def _ended(self, batch: list[Outcome], left: list[Outcome]) -> None:
        """Drop the jobs whose outcomes are written: all in `batch` but those in `left`."""
        still = {outcome.held for outcome in left}
        self._holdings.settled([outcome.held for outcome in batch if outcome.held not in still])
        self._wrote.set()
        self._wrote = trio.Event()

    async def _holders(self, job_ids: list[int]) -> list[str]:
        if not job_ids:
            return []
        rows = await self._settlement.list_holders(job_ids)
        described = [
            f"session {row['pid']} ({row['application_name']}) holds the row of job {row['job_id']} since {row['since']}"
            for row in rows
        ]
        others = sorted(set(job_ids) - {row["job_id"] for row in rows})
        return described + [f"job {job_id} needs a lock that another session has" for job_id in others]

    def statistics(self) -> SettlerStatistics:
        """Counts since the start."""
        left_over = len(self._leftovers)
        return SettlerStatistics(**self._settlement.counts, waiting=len(self.outcomes) + left_over, left_over=left_over)
