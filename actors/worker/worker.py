"""A worker process: how its parts live and end. `parts.py` puts them together."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import nullcontext

import trio

from leasehold.actors.attempts.context import context_of, describe_slots
from leasehold.actors.attempts.held_job import SHUTDOWN
from leasehold.actors.attempts.log_handler import keeping_logs
from leasehold.actors.leases.poll import EpochRider
from leasehold.actors.leases.watcher import Watcher
from leasehold.actors.process import Process
from leasehold.actors.supervise import supervise
from leasehold.actors.worker.controls import Controls, subscribe
from leasehold.actors.worker.epoch_change import EpochChange
from leasehold.actors.worker.hooks import started
from leasehold.actors.worker.kinds import check_identities, declare_kinds
from leasehold.actors.worker.machine import Reading
from leasehold.actors.worker.parts import assemble
from leasehold.actors.worker.presence import Presence
from leasehold.database import Caller
from leasehold.errors import ActorFailed, DatabaseError
from leasehold.events import WorkerReady, WorkerStopped, WorkerStopping
from leasehold.observability.context import working_as

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
        process: Process,
        connections: tuple[Caller, Caller],
        worker_id: str,
        read: Callable[[], Reading] | None = None,
    ) -> None:
        self.ready = trio.Event()
        parts = self.parts = assemble(context_of(process, worker_id), connections, read)
        controls = Controls(parts)
        self.presence = Presence(
            process.caller,
            parts.identity,
            controls.about(),
            process.settings.heartbeat_seconds,
            controls.vitals,
            controls.carry_out,
            is_urgent=parts.is_urgent,
            place=controls.take_place,
        )
        parts.dispatcher.look.carry(EpochRider(process.epochs))
        parts.dispatcher.look.carry(self.presence)
        self._epoch_change = EpochChange(parts, self.presence)
        self._claiming = trio.CancelScope()
        self._announced_end = False
        parts.mode.subscribe(self._announce_end)
        subscribe(parts)
        process.switchboard.rest(True)  # until its first heartbeat has told its place

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
        parts = self.parts
        with working_as(parts.identity.worker_id):
            async with started(parts.process.app, parts.host.state, parts.mode):
                await self._work()

    async def _work(self) -> None:
        await self._get_ready()
        parts, failed = self.parts, self.parts.announcer.actor_failed
        async with trio.open_nursery() as helpers:
            beat, rouse = self.presence.beat_soon, parts.keeper.rouse
            watcher = Watcher(parts.roster.running, parts.holdings, parts.pulse, helpers, beat, rouse)
            readers = [] if parts.processes is None else [parts.processes]
            actors = (
                parts.settler,
                parts.progress,
                parts.keeper,
                parts.cancels,
                self.presence,
                self._epoch_change,
                parts.sweeper,
                watcher,
                *readers,
            )
            for actor in actors:
                helpers.start_soon(supervise, actor, failed, parts.process.outage)
            process, connections = parts.process, max(parts.mode.slots, HANDLER_CONNECTIONS)
            handlers = parts.host.open(process.database, connections, process.settings.statement_seconds)
            with keeping_logs(parts.host.progress_sink, parts.identity.worker_id, parts.process.app):
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
        caller, settings, app = parts.process.caller, parts.process.settings, parts.process.app
        await check_identities(caller, app, identity.queues)
        await self.presence.register()
        await declare_kinds(caller, app, settings.app, settings.app_version or app.version)
        parts.announcer.worker_started(identity.queues, app.served_kinds, parts.mode.slots)
        await parts.dispatcher.warm_up()
        await parts.settler.warm_up()
        parts.announcer.worker(WorkerReady)
        log.info(
            "starting worker %s (%s) for role %s with %s",
            identity.worker_id,
            self.presence.worker_name,
            ", ".join(identity.queues) or "(all)",
            describe_slots(settings, app, parts.mode.slots),
            extra={"worker_id": identity.worker_id, "incarnation": str(identity.incarnation)},
        )
        self.ready.set()

    async def _dispatch(self) -> None:
        with self._claiming:
            await supervise(self.parts.dispatcher, self.parts.announcer.actor_failed, self.parts.process.outage)
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
