"""A worker process: its actors, put together, and how they end.

listener -- wake-ups --> dispatcher --> backlog --> slots --> settler
                             |                        |          |
                             +-------- holdings ------+----------+
                                          ^ the watcher starts a sibling for each long job
                                          ^ the lease keeper, in its own thread, renews
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import nullcontext
from uuid import uuid4

import trio

from leasehold.actors.announcer import Announcer
from leasehold.actors.backlog import Backlog
from leasehold.actors.desk import WorkerDesk
from leasehold.actors.dispatcher import Claimer, Dispatcher
from leasehold.actors.held import Held, Holdings, drop
from leasehold.actors.keeper import Keeper, Pulse
from leasehold.actors.log_keeper import keeping_logs
from leasehold.actors.onion import Layers
from leasehold.actors.outcome import Released
from leasehold.actors.presence import Presence
from leasehold.actors.processes.pool import pool_for
from leasehold.actors.scribe import Scribe
from leasehold.actors.settler import Settler
from leasehold.actors.sibling import Watcher
from leasehold.actors.slot import SHUTDOWN, Slot
from leasehold.actors.supervisor import supervise
from leasehold.app import App
from leasehold.database import Database, Lane
from leasehold.errors import DatabaseError
from leasehold.events import WorkerReady, WorkerStopped, WorkerStopping
from leasehold.notify.channel import Lost, Wake
from leasehold.notify.switchboard import Switchboard
from leasehold.settings import Settings

log = logging.getLogger("leasehold.worker")

JOBS_PER_TURN = 10
FLUSH_SECONDS = 5.0
HAND_BACK_SECONDS = 2.0


class Worker:
    """Claims, runs and settles jobs.

    Modes: *running*; *draining* after `drain`: nothing more is claimed, what has not started is handed back, what runs may
    finish; *interrupted* after `interrupt`: running handlers are cancelled and their jobs handed back. `run` returns when
    the last outcome is written.
    """

    name = "worker"

    def __init__(
        self, database: Database, lanes: tuple[Lane, Lane], settings: Settings, app: App, switchboard: Switchboard,
        worker_id: str,
    ) -> None:  # fmt: skip
        claim_lane, settle_lane = lanes
        incarnation = uuid4()
        self.holdings: Holdings = {}
        self._app = app
        self._settings = settings
        self._backlog = Backlog()
        self._pulse = Pulse()
        self._claiming = trio.CancelScope()
        self._interrupted = False
        self._stopping = False
        announcer = self._announcer = Announcer(app.observers, worker_id, incarnation)
        self.claimer = Claimer(
            incarnation, worker_id, settings.queues, settings.slots, settings.lease_seconds, settings.renew_seconds
        )
        self.dispatcher = Dispatcher(
            claim_lane, self.claimer, app, self._backlog, self.holdings, settings.poll_seconds,
            lambda: switchboard.listening, announcer,
        )  # fmt: skip
        desk = self._desk = WorkerDesk(self.holdings, app)
        self.scribe = Scribe(database, incarnation, desk.journal, self.holdings.get)
        self.settler = Settler(
            settle_lane, incarnation, self.holdings, self._jobs_ended, announcer, desk.journal, self.dispatcher.wake
        )
        self.keeper = Keeper(
            database.dsn, incarnation, self.holdings, settings.renew_seconds, Held.lose, self._pulse, announcer
        )
        self.presence = Presence(
            database, self.claimer, app.served_kinds, settings.heartbeat_seconds,
            lambda: sum(1 for _ in self.running()), lambda: switchboard.listening,
        )  # fmt: skip
        threads = trio.CapacityLimiter(settings.slots)
        layers = Layers(app)
        processes = self._processes = pool_for(app, settings.slots)
        self._database = database
        self._slots = [
            Slot(incarnation, worker_id, threads, self.settler.put, layers, announcer, processes, desk)
            for _ in range(settings.slots)
        ]
        switchboard.subscribe(Wake, self._hear_wake)
        switchboard.subscribe(Lost, self._hear_lost)
        switchboard.subscribe_reconnect(self._look_again)

    def running(self) -> Iterator[Held]:
        """The jobs whose handlers run."""
        return (slot.held for slot in self._slots if slot.held is not None)

    def drain(self) -> None:
        """End in good order."""
        if not self._stopping:
            self._stopping = True
            self._announcer.worker(WorkerStopping)
        self.presence.drain()
        self.dispatcher.drain()

    def interrupt(self) -> None:
        """End now: cancel what runs, hand back what does not, and do not wait long for a database that is away."""
        self._interrupted = True
        self._claiming.deadline = trio.current_time() + HAND_BACK_SECONDS
        self.drain()
        for held in list(self.running()):
            held.lose(SHUTDOWN)

    async def run(self) -> None:
        """Work until drained. Raises ActorFailed."""
        tell = self._announcer.actor_failed
        await self.presence.register()
        self._announcer.worker_started(self.claimer.queues, self._app.served_kinds, self.claimer.slots)
        await self.dispatcher.warm_up()
        await self.settler.warm_up()
        self._announcer.worker(WorkerReady)
        log.info(
            "starting worker %s for queues %s with %d slots",
            self.claimer.worker_id, ", ".join(self.claimer.queues) or "(all)", self.claimer.slots,
            extra={"worker_id": self.claimer.worker_id, "incarnation": str(self.claimer.incarnation)},
        )  # fmt: skip
        async with trio.open_nursery() as helpers:
            watcher = Watcher(self.running, self._pulse, helpers)
            for actor in (self.settler, self.scribe, self.keeper, self.presence, watcher):
                helpers.start_soon(supervise, actor, tell)
            handlers = self._desk.open(self._database, self.claimer.slots)
            with keeping_logs(self._desk.journal, self.claimer.worker_id, self._app):
                async with self._processes or nullcontext(), handlers, trio.open_nursery() as workers:
                    workers.start_soon(self._dispatch)
                    for slot in self._slots:
                        workers.start_soon(self._serve, slot)
            await self._finish()
            helpers.cancel_scope.cancel()

    async def _dispatch(self) -> None:
        with self._claiming:
            await supervise(self.dispatcher, self._announcer.actor_failed)
        self._backlog.close()

    async def _serve(self, slot: Slot) -> None:
        """Run jobs in a slot until the backlog is closed. Lets the other tasks turn every few jobs."""
        turns = 0
        last: Held | None = None

        async def take() -> Held | None:
            nonlocal turns, last
            if last is not None and not last.settling:
                drop(self.holdings, last)
            turns += 1
            if turns % JOBS_PER_TURN == 0:
                self.dispatcher.slot_freed()
                await trio.lowlevel.checkpoint()
            last = await self._next_job()
            return last

        await slot.run_jobs(take)

    async def _next_job(self) -> Held | None:
        """A job to run, when there is room for its outcome; None when the backlog is closed."""
        while True:
            if self.settler.is_crowded:
                await self.settler.room()
            if not len(self._backlog):
                self.dispatcher.slot_freed()
            held = await self._backlog.take()
            if held is None or not self._interrupted:
                return held
            self.settler.put(Released(held))

    async def _finish(self) -> None:
        """Write the last outcomes and say good-bye; give up after a while, the leases run out by themselves."""
        with trio.move_on_after(FLUSH_SECONDS) as scope:
            try:
                await self.settler.written()
                await self.scribe.write()
                await self.presence.leave()
            except DatabaseError as error:
                log.warning("the last outcomes could not be written: %s", error)
        if scope.cancelled_caught:
            log.warning("the last outcomes could not be written within %s s", FLUSH_SECONDS)
        self._announcer.worker(WorkerStopped)
        log.info("worker %s stopped", self.claimer.worker_id, extra={"worker_id": self.claimer.worker_id})

    def _jobs_ended(self, count: int) -> None:
        self.dispatcher.job_ended(count)
        self.scribe.hurry()

    def _hear_wake(self, notice: Wake) -> None:
        if notice.queue is None or not self.claimer.queues or notice.queue in self.claimer.queues:
            self.dispatcher.wake()

    def _hear_lost(self, notice: Lost) -> None:
        held = self.holdings.get(notice.job_id)
        if held is not None and held.attempt == notice.attempt:
            held.lose(notice.reason)

    def _look_again(self) -> None:
        self.presence.beat_soon()
        self.dispatcher.wake()
