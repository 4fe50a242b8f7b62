"""Claims jobs: one batched statement in flight, as many as there are free slots and a little ahead of them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from time import monotonic
from uuid import UUID

import msgspec

from leasehold.actors.attempts.announcer import SILENT, Announcer
from leasehold.actors.attempts.held_job import HeldJob, Holdings, drop
from leasehold.actors.claiming.backlog import Backlog
from leasehold.actors.claiming.claim_log import DispatcherStatistics, log_claims
from leasehold.actors.claiming.decisions import Rate, claim_size
from leasehold.actors.shared.epochs import EpochWatch
from leasehold.actors.shared.identity import WorkerIdentity
from leasehold.actors.shared.mode import WorkerMode
from leasehold.actors.shared.waiting import PollDecay, wait_until_due
from leasehold.app import App
from leasehold.concurrency.signal import Signal
from leasehold.database import Caller
from leasehold.errors import DatabaseUnavailable, EpochOver
from leasehold.events import JobUnblocked

log = logging.getLogger(__name__)

RECONCILE_SECONDS = 10.0
HAND_BACK_AFTER = 2.0
BUSY_SECONDS = 1.0  # until a job whose row another session holds is handed back again
MOST_CLAIMED = 10_000
MOST_ENDINGS = 2
SWEEP_SECONDS, UNHEARD_AFTER = 30.0, 0.5


class Dispatcher:
    """Keeps the backlog filled, as far as the worker's mode allows.

    A ready worker claims, and waits for a reason to claim again: a freed slot, a wake-up, the next due job or poll.
    While `hold_for` is above zero, it claims nothing and hands back what has not started. A draining one does so for
    good and closes the backlog.

    Attributes:
        turned_at: when it last looked for something to do, on the monotonic clock.
    """

    name = "dispatcher"

    def __init__(
        self,
        connection: Caller,
        identity: WorkerIdentity,
        mode: WorkerMode,
        app: App,
        backlog: Backlog,
        holdings: Holdings,
        poll_seconds: float,
        is_listening: Callable[[], bool],
        announcer: Announcer = SILENT,
        hold_for: Callable[[], float] = float,
        epochs: EpochWatch | None = None,
    ) -> None:
        self._mode = mode
        self._epochs = epochs or EpochWatch()
        self._opened = 0
        self._hold_for = hold_for
        self._paused: set[str] = set()
        self._connection = connection
        self._announcer = announcer
        self._identity = identity
        self._app = app
        self._backlog = backlog
        self._holdings = holdings
        self._poll = PollDecay(poll_seconds)
        self._rate = Rate(monotonic())
        self._signal = Signal()
        self._rung = False
        self._claim_seconds = 0.0
        self._overheard = False
        self._is_poll = False
        self._sweep_at = 0.0
        self._is_listening = is_listening
        self._unheard = False
        self._reconcile_at = monotonic() + RECONCILE_SECONDS
        self.turned_at = monotonic()
        self._endings = 0
        self._kind_leases = msgspec.json.encode(
            {kind.name: kind.options.lease for kind in app if kind.options.lease is not None}
        ).decode()
        mode.subscribe(self._signal.set)
        self._counts = dict.fromkeys(DispatcherStatistics.__struct_fields__, 0)

    def wake(self) -> None:
        """Look for jobs now."""
        self._rung = True
        self._signal.set()

    def overhear(self) -> None:
        """Other workers were notified. If this one finds their jobs, that is no lost wake-up."""
        self._overheard, self._unheard = True, False

    def job_ended(self, count: int) -> None:
        """Count settled jobs."""
        self._rate.add(count)

    def slot_freed(self) -> None:
        """A slot has become idle or the backlog is running low."""
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
        self._reconcile_at = 0.0
        while not self._mode.is_draining:
            self.turned_at = monotonic()
            if monotonic() >= self._reconcile_at or self._is_new_connection():
                await self._reconcile()
            await self._look()
        await self._end()

    async def _end(self) -> None:
        """Hand back what has not started, or, where the database stays away, leave it to its leases."""
        self._endings += 1
        try:
            if self._reconcile_at == 0.0:
                await self._reconcile()
            await self._hand_back(self._backlog.clear())
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
            await self._hand_back(self._backlog.take_out(paused))
        held_back = self._hold_for()
        if held_back:
            await self._hand_back(self._backlog.clear())
            await self._signal.wait(min(held_back, RECONCILE_SECONDS))
            return
        size = min(self._claim_size(), MOST_CLAIMED)
        if size == 0:
            await self._signal.wait(HAND_BACK_AFTER)
            await self._hand_back_stuck()
        elif self._is_poll and monotonic() < self._sweep_at:
            await self._poll_once()
        elif await self._claim(size) < size and not self._mode.is_draining and not self._is_new_connection():
            await self._wait(await self._connection.call_value("next_look_in", list(self._identity.queues)))

    async def _poll_once(self) -> None:
        """Claim at the next turn if there may be a job, else wait. Each half minute a poll claims, to look closer."""
        next_claim = await self._connection.call_value("next_claim_in", list(self._identity.queues))
        if isinstance(next_claim, float) and next_claim <= 0:
            self._is_poll = False
        else:
            self._counts["looks"] += 1
            await self._wait(next_claim)

    def _is_new_connection(self) -> bool:
        """Whether the connection was reopened since the last reconciliation: the old one may have lost a claim."""
        return self._connection.opened != self._opened

    def _claim_size(self) -> int:
        slots = self._mode.slots
        busy = slots - self._backlog.idle_slots
        return claim_size(slots, busy, len(self._backlog), self._rate.at(monotonic()), self._claim_seconds)

    async def _claim(self, size: int) -> int:
        asked_at = monotonic()
        self._sweep_at = asked_at + SWEEP_SECONDS
        was_rung, self._rung = self._rung, False
        was_unheard, self._unheard = self._unheard, False
        identity = self._identity
        incarnation = identity.incarnation
        with self._epochs.suspecting():
            rows = await self._connection.call(
                "claim_jobs",
                incarnation=incarnation,
                worker_id=identity.worker_id,
                queues=list(identity.queues),
                kinds=self._app.served_kinds,
                batch=size,
                lease=timedelta(seconds=identity.lease_seconds),
                kind_leases=self._kind_leases,
                epoch=self._epochs.epoch,
            )
        self._claim_seconds = monotonic() - asked_at
        self._check_turn(incarnation)
        self._counts["claims"] += 1
        self._counts["claimed"] += len(rows)
        self._counts["empty_claims"] += not rows
        self._counts["lost_wake_ups"] += len(rows) if was_unheard and not was_rung else 0
        if rows:
            self._poll.reset()
            renew, find = identity.renew_seconds, self._app.find
            jobs = [HeldJob(row, find(row["kind"]), asked_at, renew, incarnation) for row in rows]
            for held in jobs:
                if (former := self._holdings.get(held.id)) is not None:
                    former.lose("taken_by_another_worker")
                self._holdings[held.id] = held
            self._backlog.extend(jobs)
            log_claims(jobs, was_rung)
            self._announcer.claimed(jobs)
            if JobUnblocked in self._announcer.heard:
                await self._announcer.unblocked(self._connection, jobs)
        return len(rows)

    def _check_turn(self, incarnation: UUID) -> None:
        """Raise EpochOver if the worker has taken a new incarnation since it asked as this one."""
        if incarnation is not self._identity.incarnation:
            raise EpochOver

    async def _wait(self, next_due: object) -> None:
        """Until there is a reason to look again; `next_due` seconds at the most."""
        self._is_poll = self._overheard = False
        poll = self._poll.wait()
        seconds = wait_until_due(next_due, poll, progress=False)
        if await self._signal.wait(seconds):
            self._counts["wake_ups"] += self._rung
        elif seconds < poll and isinstance(next_due, float) and next_due > 0:
            self._poll.reset()
        else:
            self._is_poll = True
            self._unheard = seconds >= UNHEARD_AFTER and self._is_listening() and not self._overheard

    async def _hand_back_stuck(self) -> None:
        """Give back what was fetched ahead when every slot turned out to be busy for long."""
        now = monotonic()
        oldest = self._backlog.oldest
        if oldest is not None and now - oldest.claimed_at >= HAND_BACK_AFTER and self._backlog.idle_slots == 0:
            await self._hand_back(self._backlog.clear())

    async def _hand_back(self, jobs: list[HeldJob]) -> None:
        # Dropped first: if the release is lost, nobody renews them, and the next reconciliation finds them.
        for held in jobs:
            drop(self._holdings, held)
        if jobs:
            await self._release([(held.id, held.attempt) for held in jobs])
            self._counts["handed_back"] += len(jobs)
            self._announcer.handed_back(jobs)

    async def _release(self, identities: list[tuple[int, int]]) -> None:
        identities.sort()
        lists = [list(each) for each in zip(*identities, strict=True)]
        rows = await self._connection.call("release_jobs", self._identity.incarnation, *lists)
        if any(row["reason"] == "busy" for row in rows):
            self._reconcile_at = min(self._reconcile_at, monotonic() + BUSY_SECONDS)

    async def _reconcile(self) -> None:
        """Compare what the database says we hold with what we run.

        No claim is in flight meanwhile. So a job that the database knows and we do not has a claim that we never heard
        of: it is handed back. A job that we run and the database does not know is lost.
        """
        before = {(held.id, held.attempt) for held in self._holdings.values()}
        incarnation = self._identity.incarnation
        rows = await self._connection.call("held_jobs", incarnation)
        self._check_turn(incarnation)
        self._opened = self._connection.opened
        self._reconcile_at = monotonic() + RECONCILE_SECONDS
        theirs = {(row["job_id"], row["attempt"]) for row in rows}
        leaked = [identity for identity in theirs - before if identity[0] not in self._holdings]
        if leaked:
            await self._release(leaked)
            self._counts["leaked"] += len(leaked)
            log.warning("handed back %d jobs whose claim was never heard of", len(leaked))
        for job_id, attempt in before - theirs:
            held = self._holdings.get(job_id)
            if held is not None and held.attempt == attempt:
                held.lose("taken_by_another_worker")
                if held.is_left:
                    drop(self._holdings, held)

    def statistics(self) -> DispatcherStatistics:
        """Counts since the start."""
        return DispatcherStatistics(**self._counts)
