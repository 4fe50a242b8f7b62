"""A worker process: its actors, put together, and how they end.

listener -- wake-ups --> dispatcher --> backlog --> slots --> settler
                             |                        |          |
                             +-------- holdings ------+----------+
                                          ^ the watcher starts a sibling for each long job
                                          ^ the lease keeper, in its own thread, renews
"""

from __future__ import annotations

import logging
from contextlib import nullcontext
from functools import partial
from uuid import uuid4

import trio

from leasehold.actors.attempts.announcer import Announcer
from leasehold.actors.attempts.held_job import Held, Holdings
from leasehold.actors.claiming.backlog import Backlog
from leasehold.actors.claiming.dispatcher import Claimer, Dispatcher
from leasehold.actors.leases.keeper import Keeper, Pulse
from leasehold.actors.leases.sibling import Watcher
from leasehold.actors.outage import Outage
from leasehold.actors.processes.pool import Listening, pool_for
from leasehold.actors.progress.log_handler import keeping_logs
from leasehold.actors.progress.writer import Scribe
from leasehold.actors.running.crew import Crew
from leasehold.actors.running.job_host import WorkerDesk
from leasehold.actors.running.middleware_chain import Layers
from leasehold.actors.running.slot import SHUTDOWN, Slot
from leasehold.actors.settling.settler import Settler
from leasehold.actors.supervisor import supervise
from leasehold.actors.worker.backpressure import Brake, BrakeLimits, Readable, Work
from leasehold.actors.worker.controls import Controls
from leasehold.actors.worker.presence import Presence
from leasehold.actors.worker.resources import Resources
from leasehold.app import App
from leasehold.database import Database, Lane
from leasehold.errors import DatabaseError
from leasehold.events import WorkerReady, WorkerStopped, WorkerStopping
from leasehold.notify.channel import Command, Lost, Pause, Wake
from leasehold.notify.switchboard import Switchboard
from leasehold.settings import Settings

log = logging.getLogger(__name__)

FLUSH_SECONDS = 5.0
HAND_BACK_SECONDS = 2.0
HANDLER_CONNECTIONS = 50
"""For transactions of handlers, at the least; opened when needed. With more slots than that, they wait for one another."""


class Worker:
    """Claims, runs and settles jobs.

    Modes: *running*; *draining* after `drain`: nothing more is claimed, what has not started is handed back, what runs may
    finish; *interrupted* after `interrupt`: running handlers are cancelled and their jobs handed back. `run` returns when
    the last outcome is written.
    """

    name = "worker"

    def __init__(
        self, database: Database, lanes: tuple[Lane, Lane], settings: Settings, app: App, switchboard: Switchboard,
        worker_id: str, resources: Readable | None = None, outage: Outage | None = None,
    ) -> None:  # fmt: skip
        claim_lane, settle_lane = lanes
        incarnation = uuid4()
        self.holdings: Holdings = {}
        self._app = app
        self._outage = outage or Outage()
        self._settings = settings
        self._backlog = Backlog()
        self._pulse = Pulse()
        self._claiming = trio.CancelScope()
        announcer = self._announcer = Announcer(app.observers, worker_id, incarnation)
        self.claimer = Claimer(
            incarnation, worker_id, settings.queues, settings.slots, settings.lease_seconds, settings.renew_seconds
        )
        limits = BrakeLimits(settings.memory_backoff, settings.cpu_backoff, settings.backoff_seconds)
        brake = Brake(
            resources or Resources(), limits, lambda: Work(any(True for _ in self.crew.running()), self.crew.begun)
        )
        self.dispatcher = Dispatcher(
            claim_lane, self.claimer, app, self._backlog, self.holdings, settings.poll_seconds,
            lambda: switchboard.listening, announcer, brake.hold_for,
        )  # fmt: skip
        desk = self._desk = WorkerDesk(self.holdings, app)
        self.scribe = Scribe(database, incarnation, desk.journal, self.holdings.get)
        self.settler = Settler(
            settle_lane, incarnation, self.holdings, self._jobs_ended, announcer, desk.journal, self.dispatcher.wake
        )
        self.keeper = Keeper(
            database.dsn, incarnation, self.holdings, settings.renew_seconds, Held.lose, self._pulse, announcer,
            self._outage.lost,
        )  # fmt: skip
        threads = trio.CapacityLimiter(settings.slots)
        processes = self._processes = pool_for(app, settings.slots, desk.journal)
        make_slot = partial(
            Slot, incarnation, worker_id, threads, self.settler.put, Layers(app), announcer, processes, desk
        )
        self.crew = Crew(worker_id, make_slot, self._backlog, self.dispatcher, self.settler, self.holdings)
        controls = self._controls = Controls(
            worker_id, self.crew, brake, self.dispatcher, self.holdings, threads, processes, database, self.drain,
            lambda: switchboard.listening,
        )  # fmt: skip
        self.presence = Presence(
            database, self.claimer, controls.about(settings, app), settings.heartbeat_seconds, controls.vitals,
            controls.carry_out,
        )  # fmt: skip
        brake.changed = self.presence.beat_soon
        self._database = database
        switchboard.subscribe(Wake, self._hear_wake)
        switchboard.subscribe(Pause, lambda notice: self.dispatcher.pause_queue(notice.queue))
        switchboard.subscribe(Command, self._hear_command)
        switchboard.subscribe(Lost, self._hear_lost)
        switchboard.subscribe_reconnect(self._look_again)

    @property
    def is_draining(self) -> bool:
        """Whether it takes no more jobs, for good."""
        return self._controls.state == "draining"

    def drain(self) -> None:
        """End in good order."""
        if self._controls.state != "draining":
            self._controls.state = "draining"
            self._announcer.worker(WorkerStopping)
        self.presence.beat_soon()
        self.dispatcher.drain()

    def interrupt(self) -> None:
        """End now: cancel what runs, hand back what does not, and do not wait long for a database that is away."""
        self.crew.interrupted = True
        self._claiming.deadline = trio.current_time() + HAND_BACK_SECONDS
        self.drain()
        for held in list(self.crew.running()):
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
            "starting worker %s (%s) for role %s with %d slots", self.claimer.worker_id, self.presence.worker_name,
            ", ".join(self.claimer.queues) or "(all)", self.claimer.slots,
            extra={"worker_id": self.claimer.worker_id, "incarnation": str(self.claimer.incarnation)},
        )  # fmt: skip
        async with trio.open_nursery() as helpers:
            watcher = Watcher(self.crew.running, self._pulse, helpers)
            ears = [] if self._processes is None else [Listening(self._processes)]
            for actor in (self.settler, self.scribe, self.keeper, self.presence, watcher, *ears):
                helpers.start_soon(supervise, actor, tell, self._outage)
            handlers = self._desk.open(self._database, max(self.claimer.slots, HANDLER_CONNECTIONS))
            with keeping_logs(self._desk.journal, self.claimer.worker_id, self._app):
                async with self._processes or nullcontext(), handlers, trio.open_nursery() as workers:
                    workers.start_soon(self._dispatch)
                    self.crew.begin(workers, self.claimer.slots)
            await self._finish()
            helpers.cancel_scope.cancel()

    async def _dispatch(self) -> None:
        with self._claiming:
            await supervise(self.dispatcher, self._announcer.actor_failed, self._outage)
        self._backlog.close()

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

    def _hear_command(self, notice: Command) -> None:
        if notice.incarnation == str(self.claimer.incarnation):
            self.presence.beat_soon()

    def _look_again(self) -> None:
        self.presence.beat_soon()
        self.dispatcher.wake()
