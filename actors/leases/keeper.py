"""The lease keeper: renews the leases of all jobs of this worker in one statement, from a thread of its own.

A handler that blocks the event loop must not cost its lease, so the keeper shares neither loop nor connection with it. Nor may
it make a kill of a worker that was told to end look like a crash, so the keeper says that the worker drains.
It reads the holdings and writes the trust deadline of each job; everything else it hands to the worker's thread.
"""

from __future__ import annotations

import contextvars
import logging
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic

import msgspec
import trio

from leasehold.actors.attempts.context import WorkerContext
from leasehold.actors.attempts.held_job import HeldJob, lease_margin, renewal_time
from leasehold.actors.leases.watcher import Pulse
from leasehold.actors.supervise import Backoff
from leasehold.concurrency.signal import Signal
from leasehold.database import Caller, open_database
from leasehold.errors import DatabaseUnavailable, EpochOver
from leasehold.events import LeaseRenewed
from leasehold.observability.context import working_as

log = logging.getLogger(__name__)

TICK_SECONDS = 0.25
REST_SECONDS = 5.0
SHOW_RUNNING_AFTER = 0.25
BLOCKED_AFTER = 2.0
ANSWER_SECONDS = 10.0


class KeeperStatistics(msgspec.Struct, frozen=True):
    """Renewals accepted, leases found lost, statements sent, and how often the event loop was found blocked."""

    renewed: int
    lost: int
    statements: int
    loop_blocked: int


class Keeper:
    """Renews what is due. `run` belongs to the worker's thread and starts the keeper's.

    Attributes:
        is_resting: whether it waits for a job to be held. Read in any thread.
        must_end: whether the process is. Set in any thread.

    It connects by itself. It only reads the holdings; leases that are gone, what is to be announced and a lost database it tells
    in the worker's thread.
    """

    name = "lease keeper"

    def __init__(
        self, worker: WorkerContext, pulse: Pulse, lose: Callable[[HeldJob, str], object] = HeldJob.lose
    ) -> None:
        self._process = worker.process
        self._identity = worker.identity
        self._holdings = worker.holdings
        self._announcer = worker.announcer
        self._renew_seconds = worker.identity.renew_seconds
        self._pulse = pulse
        self._lose = lose
        self.looped_at = monotonic()
        self._rest_seconds = max(TICK_SECONDS, min(REST_SECONDS, self._renew_seconds / 2))
        self.is_resting = self.must_end = False
        self._roused = Signal()
        self._stopping = False
        self._cancel_thread: Callable[[], object] = bool
        self._rouse_thread: Callable[[], object] = bool
        self._blocked_reported = 0.0
        self._counts = {"renewed": 0, "lost": 0, "statements": 0, "loop_blocked": 0}

    async def run(self) -> None:
        """Keep leases until cancelled. Returns when the thread has ended. Raises what the thread raised."""
        self._stopping = False
        portal = trio.lowlevel.current_trio_token()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._end_with_us)
            await trio.to_thread.run_sync(self._thread, portal, limiter=trio.CapacityLimiter(1))
            nursery.cancel_scope.cancel()

    def rouse(self) -> None:
        """Look at the jobs now, if it rests. Called in the worker's thread while the worker holds a job."""
        if self.is_resting:
            self.is_resting = False
            with suppress(trio.RunFinishedError):
                self._rouse_thread()

    async def _end_with_us(self) -> None:
        try:
            await trio.sleep_forever()
        finally:
            self._stopping = True
            with suppress(trio.RunFinishedError):
                self._cancel_thread()

    def _thread(self, portal: trio.lowlevel.TrioToken) -> None:
        # An empty context: the asyncio loop of the worker's thread must not be found here.
        contextvars.Context().run(trio.run, self._keep, portal)

    async def _keep(self, portal: trio.lowlevel.TrioToken) -> None:
        with working_as(self._identity.worker_id), trio.CancelScope() as scope:
            token = trio.lowlevel.current_trio_token()
            self._cancel_thread = lambda: token.run_sync_soon(scope.cancel)
            self._rouse_thread = lambda: token.run_sync_soon(self._roused.set)
            if self._stopping:
                return
            greeter, dsn = self._process.epochs.in_thread(portal), self._process.database.dsn
            async with (
                open_database(dsn, pool_size=1, timeout=ANSWER_SECONDS, greeter=greeter) as database,
                database.reserve("lease keeper") as connection,
            ):
                try:
                    await self._renew_until_cancelled(connection, portal)
                except Exception:
                    # From here: the worker's thread hears of it when no handler blocks it.
                    log.exception("%s failed; no lease of this worker is renewed any more", self.name)
                    raise

    async def _renew_until_cancelled(self, connection: Caller, portal: trio.lowlevel.TrioToken) -> None:
        backoff, is_logged = Backoff(), False
        while True:
            self.looped_at = monotonic()
            wait = TICK_SECONDS
            try:
                await self.renew_due(connection, portal)
                if self.must_end and not is_logged:
                    incarnation, jobs = self._identity.incarnation, len(self._holdings)
                    await connection.call("heartbeat_worker", incarnation, jobs, "draining", False)
                    is_logged = True
            except DatabaseUnavailable as error:
                wait = backoff.wait(monotonic())
                if not isinstance(error, EpochOver):
                    portal.run_sync_soon(self._process.outage.lost, self.name, error)
            slept_at = monotonic()
            if wait == TICK_SECONDS and not self._holdings:
                await self._rest()
                continue
            await trio.sleep(wait)
            # If this thread overslept as well, the whole process stood still, and no handler is to blame.
            if monotonic() - slept_at < wait + BLOCKED_AFTER / 2 and not self._pulse.is_resting:
                self._report_blocked_loop()

    async def _rest(self) -> None:
        """Wait until there may be a job. A job that blocks the event loop at once rouses nobody: so look now and then."""
        self.is_resting = True
        if not self._holdings:
            await self._roused.wait(self._rest_seconds)
        self.is_resting = False

    async def renew_due(self, connection: Caller, portal: trio.lowlevel.TrioToken) -> None:
        """Renew every lease whose time has come, in one statement. Raises DatabaseUnavailable."""
        now = monotonic()
        due = [held for held in list(self._holdings.values()) if held.lost is None and _is_due(held, now)]
        if not due:
            return
        due.sort(key=lambda held: held.id)
        self._counts["statements"] += 1
        incarnation = self._identity.incarnation
        rows = await connection.call(
            "renew_leases",
            incarnation,
            [h.id for h in due],
            [h.attempt for h in due],
            [h.lease for h in due],
            [None if h.started is None else now - h.started for h in due],
            timeout=ANSWER_SECONDS,
        )
        if any(row["reason"] != "busy" for row in rows):
            # A pooler may have kept this connection over a failover. Then the change of epoch shows what is lost.
            await self._process.epochs.in_thread(portal).greet(connection)
        if incarnation is not self._identity.incarnation:
            return  # the worker has taken a new incarnation meanwhile; the jobs that it kept are still due
        self._apply(due, {row["job_id"]: row["reason"] for row in rows}, now, portal)

    def _apply(
        self, due: Sequence[HeldJob], refused: dict[int, str], asked_at: float, portal: trio.lowlevel.TrioToken
    ) -> None:
        if LeaseRenewed in self._announcer.subscribed:
            portal.run_sync_soon(self._announcer.renewed, [held for held in due if held.id not in refused])
        if log.isEnabledFor(logging.DEBUG):
            renewed = [held.id for held in due if held.id not in refused]
            log.debug("renewed %d leases", len(renewed), extra={"job_ids": renewed})
        for held in due:
            reason = refused.get(held.id)
            if reason is None:
                held.trusted_until = asked_at + held.lease - lease_margin(held.lease)
                held.renew_at = asked_at + renewal_time(self._renew_seconds, held.lease)
                held.shown = held.started is not None
                self._counts["renewed"] += 1
            elif reason == "busy":
                held.renew_at = asked_at + 1.0
            else:
                self._counts["lost"] += 1
                held.renew_at = asked_at + 1.0  # the loop takes its time to tell it
                portal.run_sync_soon(self._lose, held, reason)

    def _report_blocked_loop(self) -> None:
        now = monotonic()
        silent = now - self._pulse.at
        if silent < BLOCKED_AFTER:
            self._blocked_reported = 0.0
        elif silent > 2 * self._blocked_reported:
            self._counts["loop_blocked"] += self._blocked_reported == 0.0
            self._blocked_reported = silent
            running = [held for held in list(self._holdings.values()) if held.started is not None]
            log.error(
                "a handler has blocked the event loop for %.1f s (its lease is kept); running: %s; it is at:\n%s",
                silent,
                ", ".join(f"job {h.id} ({h.row['kind']})" for h in running),
                _stack_of(self._pulse.thread),
                extra={"job_ids": [held.id for held in running]},
            )

    def statistics(self) -> KeeperStatistics:
        """Counts since the start."""
        return KeeperStatistics(**self._counts)


def _is_due(held: HeldJob, now: float) -> bool:
    if now >= held.renew_at:
        return True
    return (
        not held.shown and held.started is not None and now - held.started >= SHOW_RUNNING_AFTER and not held.settling
    )


def _stack_of(thread: int) -> str:
    frame = sys._current_frames().get(thread)  # pyright: ignore[reportPrivateUsage]  the documented way
    return "".join(traceback.format_stack(frame)[-6:]) if frame is not None else "(unknown)"
