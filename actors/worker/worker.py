"""A worker process: how its parts live and end. `parts.py` puts them together."""

from __future__ import annotations

import logging
from contextlib import nullcontext

import trio

from leasehold.actors.attempts.held_job import SHUTDOWN
from leasehold.actors.claiming.epoch_rider import EpochRider
from leasehold.actors.leases.sibling import Watcher
from leasehold.actors.processes.pool import ProcessOutputReader
from leasehold.actors.progress.log_handler import keeping_logs
from leasehold.actors.shared.epochs import EpochWatch
from leasehold.actors.shared.outage import Outage
from leasehold.actors.shared.supervisor import supervise
from leasehold.actors.worker.backpressure import Readable
from leasehold.actors.worker.controls import Controls
from leasehold.actors.worker.notices import subscribe
from leasehold.actors.worker.parts import assemble
from leasehold.actors.worker.presence import Presence
from leasehold.actors.worker.rebirth import Rebirth
from leasehold.actors.worker.requirements import check_identities, declare_kinds
from leasehold.actors.worker.slot_count import told_slots
from leasehold.app import App
from leasehold.database import Database, ReservedConnection
from leasehold.errors import ActorFailed, DatabaseError
from leasehold.events import WorkerReady, WorkerStopped, WorkerStopping
from leasehold.notify.switchboard import Switchboard
from leasehold.observability.context import working_as
from leasehold.settings import Settings

log = logging.getLogger(__name__)

FLUSH_SECONDS = 5.0
HAND_BACK_SECONDS = 2.0
LEAVE_SECONDS = 2.0
HANDLER_CONNECTIONS = 50
"""The pool for transactions of handlers has room for at least this many. Slots beyond the pool wait for one another."""


class Worker:
    """Claims, runs and settles jobs until it is told to end; `WorkerMode` has its states.

    `run` returns when the last outcome is written.

    Attributes:
        parts: what it is made of.
        presence: its row.
        ready: set when it claims.
    """

    name = "worker"

    def __init__(
        self,
        database: Database,
        connections: tuple[ReservedConnection, ReservedConnection],
        settings: Settings,
        app: App,
        switchboard: Switchboard,
        worker_id: str,
        resources: Readable | None = None,
        outage: Outage | None = None,
        epochs: EpochWatch | None = None,
    ) -> None:
        self._outage = outage or Outage()
        self.ready = trio.Event()
        epochs = epochs or EpochWatch()
        parts = self.parts = assemble(
            database, connections, settings, app, switchboard, worker_id, resources, self._outage, epochs
        )
        controls = Controls(parts, database, lambda: switchboard.listening)
        self.presence = Presence(
            database,
            parts.identity,
            controls.about(settings, app),
            settings.heartbeat_seconds,
            controls.vitals,
            controls.carry_out,
            parts.news,
        )
        parts.dispatcher.look.carry(EpochRider(epochs))
        parts.dispatcher.look.carry(self.presence)
        self._rebirth = Rebirth(database, parts, self.presence, epochs)
        self._app = app
        self._settings = settings
        self._database = database
        self._claiming = trio.CancelScope()
        self._announced_end = False
        parts.mode.subscribe(self._announce_end)
        subscribe(switchboard, parts)

    @property
    def is_draining(self) -> bool:
        """Whether it takes no more jobs, for good."""
        return self.parts.mode.is_draining

    def drain(self) -> None:
        """End in good order."""
        self.parts.mode.drain()

    def interrupt(self) -> None:
        """End now: cancel what runs, hand back what does not, and do not wait long for a database that is away."""
        self._claiming.deadline = trio.current_time() + HAND_BACK_SECONDS
        self.parts.mode.interrupt()
        for held in list(self.parts.roster.running()):
            held.lose(SHUTDOWN)

    async def run(self) -> None:
        """Work until drained. Raises DatabaseUnavailable and NoIdentities at the start, and ActorFailed."""
        with working_as(self.parts.identity.worker_id):
            await self._work()

    async def _work(self) -> None:
        await self._get_ready()
        parts, tell = self.parts, self.parts.announcer.actor_failed
        async with trio.open_nursery() as helpers:
            watcher = Watcher(
                parts.roster.running, parts.pulse, helpers, self.presence.beat_soon,
                lambda: bool(parts.holdings), parts.keeper.rouse,
            )  # fmt: skip
            readers = [] if parts.processes is None else [ProcessOutputReader(parts.processes)]
            actors = (
                parts.settler,
                parts.progress,
                parts.keeper,
                self.presence,
                self._rebirth,
                parts.sweeper,
                watcher,
                *readers,
            )
            for actor in actors:
                helpers.start_soon(supervise, actor, tell, self._outage)
            handlers = parts.host.open(self._database, max(parts.mode.slots, HANDLER_CONNECTIONS))
            with keeping_logs(parts.host.progress_sink, parts.identity.worker_id, self._app):
                async with parts.processes or nullcontext(), handlers, trio.open_nursery() as workers:
                    workers.start_soon(self._dispatch)
                    parts.crew.begin(workers)
            await self._finish()
            helpers.cancel_scope.cancel()
        if not self.is_draining:
            raise ActorFailed("worker failed: a handler has cancelled all slots; it may cancel its own nurseries only")

    async def _get_ready(self) -> None:
        """Register, and connect, so that the first job does not wait for it. Raises DatabaseUnavailable, NoIdentities."""
        parts, identity = self.parts, self.parts.identity
        await check_identities(self._database, self._app, identity.queues)
        await self.presence.register()
        await declare_kinds(
            self._database, self._app, self._settings.app, self._settings.app_version or self._app.version
        )
        parts.announcer.worker_started(identity.queues, self._app.served_kinds, parts.mode.slots)
        await parts.dispatcher.warm_up()
        await parts.settler.warm_up()
        parts.announcer.worker(WorkerReady)
        log.info(
            "starting worker %s (%s) for role %s with %s",
            identity.worker_id,
            self.presence.worker_name,
            ", ".join(identity.queues) or "(all)",
            told_slots(self._settings, self._app, parts.mode.slots),
            extra={"worker_id": identity.worker_id, "incarnation": str(identity.incarnation)},
        )
        self.ready.set()

    async def _dispatch(self) -> None:
        with self._claiming:
            await supervise(self.parts.dispatcher, self.parts.announcer.actor_failed, self._outage)
        self.parts.backlog.close()

    async def _finish(self) -> None:
        """Write the last outcomes and stop the worker's row. Give up after some seconds: the leases then run out."""
        try:
            patience = FLUSH_SECONDS / 2 if self.parts.mode.is_interrupted else FLUSH_SECONDS
            with trio.move_on_after(patience) as scope:
                await self.parts.settler.written()
            with trio.fail_after(LEAVE_SECONDS):
                if scope.cancelled_caught:
                    lost = await self.parts.settler.describe_unwritten()
                    log.warning("not written within %s s, their leases run out: %s", patience, lost)
                await self.parts.progress.write()
                await self.presence.leave()
        except (DatabaseError, trio.TooSlowError) as error:
            log.warning("the last outcomes could not be written: %s", str(error) or "the database did not answer")
        self.parts.announcer.worker(WorkerStopped)
        worker_id = self.parts.identity.worker_id
        log.info("worker %s stopped", worker_id, extra={"worker_id": worker_id})

    def _announce_end(self) -> None:
        if self.is_draining and not self._announced_end:
            self._announced_end = True
            self.parts.announcer.worker(WorkerStopping)
