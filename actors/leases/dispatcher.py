"""Claims jobs: one batched statement in flight, as many as there are free slots and a little ahead of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from math import inf
from time import monotonic
from typing import Any

import msgspec

from leasehold.actors.attempts.context import WorkerContext
from leasehold.actors.attempts.held_job import Backlog, HeldJob
from leasehold.actors.leases.claim_size import Rate, claim_size
from leasehold.actors.leases.poll import MOST_POLLERS, PollDecay, SharedPoll
from leasehold.actors.leases.reconciler import RECONCILE_SECONDS, Reconciler
from leasehold.actors.leases.sweeper import LeaseSweeper
from leasehold.actors.leases.watcher import Pulse
from leasehold.actors.upkeep.due_jobs import wait_until_due
from leasehold.concurrency.signal import Signal
from leasehold.database import Caller, Row
from leasehold.errors import DatabaseUnavailable, EpochOver, ValueRefused
from leasehold.events import JobUnblocked

log = logging.getLogger(__name__)

HAND_BACK_AFTER = 2.0
MOST_CLAIMED = 10_000
NO_TEXT = "22021"  # Postgres sends no bytes that are no text, which a database in SQL_ASCII may have
MOST_ENDINGS = 2
SWEEP_SECONDS, UNHEARD_AFTER = 60.0, 0.5
CALM_SECONDS = 0.03
"""From the last claim to a wake-up, where jobs come one by one: the worker goes on being woken, and does not look after each."""


class DispatcherStatistics(msgspec.Struct, frozen=True):
    """Counts since the start.

    Attributes:
        claimed: jobs. claims: statements. empty_claims: statements that found nothing. looks: polls that made no claim,
            because nothing was pending.
        wake_ups: times a notification ended the wait. lost_wake_ups: jobs that a poll found without a notification,
            although this worker had been idle and listening for half a second.
        handed_back: claimed jobs given back unstarted. leaked: jobs whose claim only a reconciliation found.
    """

    claimed: int
    claims: int
    empty_claims: int
    looks: int
    wake_ups: int
    lost_wake_ups: int
    handed_back: int
    leaked: int


OWN_COUNTS = set(DispatcherStatistics.__struct_fields__) - {"handed_back", "leaked"}


class Dispatcher:
    """Keeps the backlog filled, as far as the worker's mode allows.

    A ready worker claims, and waits for a reason to claim again: a freed slot, a wake-up, the next due job or poll.
    While `back_off_for` is above zero, it claims nothing and hands back what has not started. A draining one does so for
    good and closes the backlog.

    Attributes:
        looped_at: when it last looked for something to do, on the monotonic clock.
        look: its polls, which take along what others ask.
    """

    name = "dispatcher"

    def __init__(
        self,
        worker: WorkerContext,
        connection: Caller,
        backlog: Backlog,
        pulse: Pulse,
        back_off_for: Callable[[], float],
        sweeper: LeaseSweeper,
    ) -> None:
        self._mode = worker.mode
        self._identity = worker.identity
        self._holdings = worker.holdings
        self._announcer = worker.announcer
        self._app = worker.process.app
        self._epochs = worker.process.epochs
        self._switchboard = worker.process.switchboard
        self._connection = connection
        self._backlog = backlog
        self._pulse = pulse
        self._back_off_for = back_off_for
        self._paused: set[str] = set()
        self._settings = worker.process.settings
        self._poll = PollDecay(self._settings.poll_seconds)
        self.look = SharedPoll(connection, worker.identity, self._poll, sweeper)
        self._rate = Rate(monotonic())
        self._signal = Signal()
        self._rung = False
        self._claim_seconds = 0.0
        self._overheard = False
        self._is_poll = self._found_nothing = False
        self._expects_more = True
        self._is_woken_on = False
        self._claimed_at = -inf
        self._unheard = False
        self._reconciler = Reconciler(worker, connection)
        self.looped_at = monotonic()
        self._endings = 0
        self._kind_leases = msgspec.json.encode(
            {kind.name: kind.options.lease for kind in self._app if kind.options.lease is not None}
        ).decode()
        worker.mode.subscribe(self._signal.set)
        worker.holdings.subscribe(self._jobs_settled)
        backlog.subscribe(self.slot_freed)
        self._counts = dict.fromkeys(OWN_COUNTS, 0)

    def wake(self) -> None:
        """Look for jobs now."""
        self._rung = True
        self._signal.set()

    def share_polls(self, workers: int) -> None:
        """So many idle workers, this one among them, can take the same jobs: they poll in turns."""
        if self._settings.notify:
            self._poll.share(self._settings.poll_seconds, workers, self._settings.heartbeat_seconds)

    def overhear(self) -> None:
        """Other workers were notified. If this one finds their jobs, that is no lost wake-up."""
        self._overheard, self._unheard = True, False

    def _jobs_settled(self, jobs: Sequence[HeldJob]) -> None:
        self._rate.add(len(jobs))
        if any(held.is_suspect for held in jobs):
            self.wake()  # others of its kind may be claimed again

    def slot_freed(self) -> None:
        """A slot has become idle or the backlog is running low."""
        if not self._is_woken_on:
            self._signal.set()

    def pause_queue(self, queue: str) -> None:
        """Hand back the jobs of this queue that have not started: it was paused."""
        self._paused.add(queue)
        self._signal.set()

    async def warm_up(self) -> None:
        """Connect, so that the first claim does not wait for it. Raises DatabaseUnavailable."""
        await self._connection.call("held_jobs", self._identity.incarnation)

    async def run(self) -> None:
        """Claim until drained. Raises DatabaseUnavailable; called again, it reconciles first."""
        self._reconciler.is_demanded = True
        while not self._mode.is_draining:
            self.looped_at = monotonic()
            if self._reconciler.is_due:
                await self._reconciler.reconcile()
            await self._look()
        await self._end()

    async def _end(self) -> None:
        """Hand back what has not started, or, where the database stays away, leave it to its leases."""
        self._endings += 1
        try:
            if self._reconciler.is_demanded:
                await self._reconciler.reconcile()
            await self._reconciler.hand_back(self._backlog.clear())
        except DatabaseUnavailable as error:
            if self._endings < MOST_ENDINGS:
                raise
            log.warning("could not hand back what has not started, the leases will run out: %s", error)
        self._backlog.close()

    async def _look(self) -> None:
        """Claim if there is room, then wait until there is a reason to look again."""
        if self._paused:
            # No claim is in flight: a later one sees the pause for itself.
            paused, self._paused = self._paused, set()
            await self._reconciler.hand_back(self._backlog.take_out(paused))
        seconds = self._back_off_for()
        if seconds:
            self._is_poll = False
            await self._reconciler.hand_back(self._backlog.clear())
            await self._signal.wait(min(seconds, RECONCILE_SECONDS))
            return
        size = min(self._claim_size(), MOST_CLAIMED)
        if size == 0:
            self._is_poll = False  # a claim comes first when there is room again: it shows the worker as idle
            await self._signal.wait(HAND_BACK_AFTER)
            await self._hand_back_stuck()
        elif self._is_poll:
            await self._poll_once(size)
        elif (
            (found := await self._claim(size)) < size
            and not self._mode.is_draining
            and not self._reconciler.is_new_connection
        ):
            next_due = None
            self._found_nothing |= not found
            if not found or self._expects_more:  # else the next poll, in some milliseconds, tells as well
                next_due = await self._connection.call_value("next_look_in", list(self._identity.queues))
                self._expects_more = next_due is not None
            await self._wait(next_due)

    async def _poll_once(self, size: int) -> None:
        """Claim in the next round if there may be a job, else wait. Each minute a poll claims all the same, to look closer; in a
        large fleet, where each polls rarely, one in 32 does."""
        next_claim = await self.look.ask()
        self._found_nothing = not isinstance(next_claim, float) or next_claim > 0
        self._expects_more = next_claim is not None
        if not self._found_nothing:
            self._is_poll = False
            return
        self._counts["looks"] += 1
        if monotonic() >= self._claimed_at + self._sweep_seconds():
            self._is_poll = False
            if await self._claim(size) > 0 or self._mode.is_draining or self._reconciler.is_new_connection:
                return
        await self._wait(next_claim)

    def _sweep_seconds(self) -> float:
        poll = self._poll.longest
        return SWEEP_SECONDS if poll <= self._settings.poll_seconds else max(SWEEP_SECONDS, MOST_POLLERS * poll)

    def _claim_size(self) -> int:
        slots = self._mode.slots
        busy = slots - self._backlog.idle_slots
        return claim_size(slots, busy, len(self._backlog), self._rate.at(monotonic(), slots), self._claim_seconds)

    async def _claim(self, size: int) -> int:
        asked_at = monotonic()
        was_rung, self._rung = self._rung, False
        is_calm = was_rung and asked_at >= self._claimed_at + CALM_SECONDS and size <= self._backlog.idle_slots
        self._claimed_at = asked_at
        self._is_woken_on = False
        was_unheard, self._unheard = self._unheard, False
        identity, incarnation = self._identity, self._identity.incarnation
        try:
            rows = await self._call("claim_jobs", size, stays_idle=is_calm)
        except ValueRefused as error:
            if error.sqlstate != NO_TEXT:
                raise
            self._reconciler.is_demanded = True
            [row] = await self._call("fail_unreadable_jobs", size)
            log.warning("failed %d jobs whose text is no UTF-8", row["fail_unreadable_jobs"])
            return size if row["fail_unreadable_jobs"] else 0
        self._claim_seconds = monotonic() - asked_at
        if incarnation is not identity.incarnation:
            raise EpochOver
        self._counts["claims"] += 1
        self._counts["claimed"] += len(rows)
        self._counts["empty_claims"] += not rows
        if rows:
            self._is_woken_on = is_calm and len(rows) < size
            self._reconciler.has_nothing = False
            self._poll.reset(later=self._is_woken_on)
            if was_unheard and not was_rung:
                self._lost_wake_up(len(rows))
            renew, find = identity.renew_seconds, self._app.find
            jobs = [HeldJob(row, find(row["kind"]), asked_at, renew, incarnation) for row in rows]
            self._holdings.add(jobs)
            self._pulse.stir()
            self._backlog.extend(jobs)
            self._announcer.claimed(jobs, was_rung)
            if JobUnblocked in self._announcer.subscribed:
                await self._announcer.unblocked(self._connection, jobs)
        return len(rows)

    async def _call(self, function: str, size: int, **further: Any) -> list[Row]:
        identity = self._identity
        with self._epochs.suspecting():
            return await self._connection.call(
                function,
                incarnation=identity.incarnation,
                worker_id=identity.worker_id,
                queues=list(identity.queues),
                kinds=self._app.served_kinds,
                batch=size,
                lease=timedelta(seconds=identity.lease_seconds),
                kind_leases=self._kind_leases,
                epoch=self._epochs.epoch,
                **further,
            )

    def _lost_wake_up(self, jobs: int) -> None:
        """A poll has found what this worker should have been told of: is anybody listening?"""
        self._counts["lost_wake_ups"] += jobs
        self._switchboard.doubted.set()

    async def _wait(self, next_due: object) -> None:
        """Until there is a reason to look again; `next_due` seconds at the most."""
        self._is_poll = self._overheard = False
        poll = self._poll.wait()
        seconds = wait_until_due(next_due, poll, progress=False)
        if await self._signal.wait(seconds):
            self._counts["wake_ups"] += self._rung
            # A slot has become free. Where there was nothing more for the last one, a poll, which costs less, asks before a claim.
            self._is_poll = self._found_nothing and not self._rung
        elif seconds < poll and isinstance(next_due, float) and next_due > 0:
            self._poll.hurry()
        else:
            self._is_poll = True
            self._unheard = seconds >= UNHEARD_AFTER and self._switchboard.listening and not self._overheard

    async def _hand_back_stuck(self) -> None:
        """Give back what was fetched ahead when every slot turned out to be busy for long."""
        now = monotonic()
        oldest = self._backlog.oldest
        if oldest is not None and now - oldest.claimed_at >= HAND_BACK_AFTER and self._backlog.idle_slots == 0:
            await self._reconciler.hand_back(self._backlog.clear())

    def statistics(self) -> DispatcherStatistics:
        """Counts since the start."""
        reconciler = self._reconciler
        return DispatcherStatistics(**self._counts, handed_back=reconciler.handed_back, leaked=reconciler.leaked)
