"""A worker process: its actors, put together, and how they end.

listener -- wake-ups --> dispatcher --> backlog --> slots --> settler
                             |                        |          |
                             +-------- holdings ------+----------+
                                          ^ the watcher starts a sibling for each long job
                                          ^ the lease keeper, in its own thread, renews
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Collection, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any
from uuid import uuid4

import trio

from leasehold.actors.announcer import Announcer
from leasehold.actors.backlog import Backlog
from leasehold.actors.brake import Brake, BrakeLimits, Readable
from leasehold.actors.commands import carry_out
from leasehold.actors.desk import WorkerDesk
from leasehold.actors.dispatcher import Claimer, Dispatcher
from leasehold.actors.held import Held, Holdings, drop
from leasehold.actors.keeper import Keeper, Pulse
from leasehold.actors.log_keeper import keeping_logs
from leasehold.actors.onion import Layers
from leasehold.actors.outcome import Released
from leasehold.actors.presence import About, Presence, Vitals
from leasehold.actors.processes.pool import pool_for
from leasehold.actors.resources import Resources
from leasehold.actors.scribe import Scribe
from leasehold.actors.settler import Settler
from leasehold.actors.sibling import Watcher
from leasehold.actors.slot import SHUTDOWN, Slot
from leasehold.actors.stacks import stack_of
from leasehold.actors.supervisor import supervise
from leasehold.app import App
from leasehold.database import Database, Lane
from leasehold.errors import DatabaseError, NotFound, WrongState
from leasehold.events import WorkerReady, WorkerStopped, WorkerStopping
from leasehold.notify.channel import Command as CommandNotice
from leasehold.notify.channel import Lost, Pause, Wake
from leasehold.notify.switchboard import Switchboard
from leasehold.settings import Settings

log = logging.getLogger("leasehold.worker")

JOBS_PER_TURN = 10
FLUSH_SECONDS = 5.0
HAND_BACK_SECONDS = 2.0
HANDLER_CONNECTIONS = 50
"""For transactions of handlers, at the least; opened when needed. More slots than that after `scale` wait for one another."""


class Worker:
    """Claims, runs and settles jobs.

    Modes: *running*; *draining* after `drain`: nothing more is claimed, what has not started is handed back, what runs may
    finish; *interrupted* after `interrupt`: running handlers are cancelled and their jobs handed back. `run` returns when
    the last outcome is written.
    """

    name = "worker"

    def __init__(
        self, database: Database, lanes: tuple[Lane, Lane], settings: Settings, app: App, switchboard: Switchboard,
        worker_id: str, resources: Readable | None = None,
    ) -> None:  # fmt: skip
        resources = resources or Resources()
        claim_lane, settle_lane = lanes
        incarnation = uuid4()
        self.holdings: Holdings = {}
        self._app = app
        self._settings = settings
        self._backlog = Backlog()
        self._pulse = Pulse()
        self._claiming = trio.CancelScope()
        self._interrupted = False
        self._numbered = 0
        self._stopping = False
        announcer = self._announcer = Announcer(app.observers, worker_id, incarnation)
        self.claimer = Claimer(
            incarnation, worker_id, settings.queues, settings.slots, settings.lease_seconds, settings.renew_seconds
        )
        self.brake = Brake(
            resources, BrakeLimits(settings.memory_backoff, settings.cpu_backoff, settings.backoff_seconds)
        )
        self.dispatcher = Dispatcher(
            claim_lane, self.claimer, app, self._backlog, self.holdings, settings.poll_seconds,
            lambda: switchboard.listening, announcer, self.brake.hold_for,
        )  # fmt: skip
        desk = self._desk = WorkerDesk(self.holdings, app)
        self.scribe = Scribe(database, incarnation, desk.journal, self.holdings.get)
        self.settler = Settler(
            settle_lane, incarnation, self.holdings, self._jobs_ended, announcer, desk.journal, self.dispatcher.wake
        )
        self.keeper = Keeper(
            database.dsn, incarnation, self.holdings, settings.renew_seconds, Held.lose, self._pulse, announcer
        )
        self._is_listening = lambda: switchboard.listening
        self.presence = Presence(
            database,
            self.claimer,
            self._about(settings),
            settings.heartbeat_seconds,
            self._vitals,
            partial(carry_out, self),
        )
        self.brake.changed = self.presence.beat_soon
        self._threads = trio.CapacityLimiter(settings.slots)
        layers = Layers(app)
        processes = self._processes = pool_for(app, settings.slots)
        self._database = database
        self._make_slot = partial(
            Slot, incarnation, worker_id, self._threads, self.settler.put, layers, announcer, processes, desk
        )
        self._slots: dict[Slot, trio.lowlevel.Task] = {}
        self._workers: trio.Nursery | None = None
        switchboard.subscribe(Wake, self._hear_wake)
        switchboard.subscribe(Pause, lambda notice: self.dispatcher.pause_queue(notice.queue))
        switchboard.subscribe(CommandNotice, self._hear_command)
        switchboard.subscribe(Lost, self._hear_lost)
        switchboard.subscribe_reconnect(self._look_again)

    @property
    def slots(self) -> Collection[Slot]:
        """Those that there are now."""
        return self._slots

    def running(self) -> Iterator[Held]:
        """The jobs whose handlers run."""
        return (slot.held for slot in self._slots if slot.held is not None)

    def _about(self, settings: Settings) -> About:
        load = self.brake.load()
        return About(
            kinds=self._app.served_kinds, host=settings.host or socket.gethostname(), name=settings.worker_name,
            app_version=settings.app_version or self._app.version, memory_limit=load and load.memory_limit,
            cpu_limit=load and load.cpu_limit,
        )  # fmt: skip

    def _vitals(self) -> Vitals:
        load, reason = self.brake.load(), self.brake.reason
        return Vitals(
            active_jobs=sum(1 for _ in self.running()), slots=self.dispatcher.slots, listening=self._is_listening(),
            memory=load and load.memory, cpu=load and load.cpu, backoff=reason,
            backoff_for=self.brake.seconds_left() if reason else None,
        )  # fmt: skip

    def drain(self) -> None:
        """End in good order."""
        if not self._stopping:
            self._stopping = True
            self._announcer.worker(WorkerStopping)
        self.presence.show("draining")
        self.dispatcher.drain()

    def interrupt(self) -> None:
        """End now: cancel what runs, hand back what does not, and do not wait long for a database that is away."""
        self._interrupted = True
        self._claiming.deadline = trio.current_time() + HAND_BACK_SECONDS
        self.drain()
        for held in list(self.running()):
            held.lose(SHUTDOWN)

    def decommission(self) -> dict[str, Any]:
        """Drain, however long what runs takes."""
        running = [held.id for held in self.running()]
        self.drain()
        return {"state": "draining", "running": running}

    def pause(self) -> dict[str, Any]:
        """Claim nothing until `resume`. Raises WrongState."""
        return self._set_paused(True)

    def resume(self) -> dict[str, Any]:
        """Claim again. Raises WrongState."""
        return self._set_paused(False)

    def _set_paused(self, paused: bool) -> dict[str, Any]:
        self._refuse_while_stopping()
        self.brake.paused = paused
        self.presence.show("paused" if paused else "ready")
        self.dispatcher.look_again()
        return {"state": self.presence.state, "running": [held.id for held in self.running()]}

    def scale(self, slots: int) -> dict[str, Any]:
        """Run so many jobs at once; slots that are too many end with the job that they run. Raises WrongState."""
        self._refuse_while_stopping()
        was, self.dispatcher.slots = self.dispatcher.slots, slots
        self._threads.total_tokens = slots
        if self._processes is not None:
            self._processes.resize(slots)
        if slots < was:
            self._backlog.dismiss(was - slots)
        else:
            self._start_slots(slots - was - self._backlog.recall(slots - was))
        self.dispatcher.look_again()
        self.presence.beat_soon()
        return {"was": was, "slots": slots}

    async def cancel_job(self, job_id: int) -> dict[str, Any]:
        """Cancel a job that this worker holds. Raises NotFound, WrongState."""
        held = self._held(job_id)
        was = await self._database.call_value("cancel_job", job_id, f"by a command to worker {self.claimer.worker_id}")
        held.lose("cancelled")
        return {"job_id": job_id, "was": was}

    async def dump_stacks(self, job_id: int | None) -> dict[str, Any]:
        """Where the handlers are, of one job or of all that run. Raises NotFound."""
        if job_id is not None and job_id not in [held.id for held in self.running()]:
            self._held(job_id)
            raise WrongState(f"job {job_id} is claimed by worker {self.claimer.worker_id} and has not started")
        stacks: list[dict[str, Any]] = []
        for slot, task in list(self._slots.items()):
            held = slot.held
            if held is not None and job_id in (None, held.id):
                stacks.append({"job_id": held.id, "kind": held.kind.name, "stack": await self._stack(held, task)})
        return {"stacks": stacks}

    async def _stack(self, held: Held, task: trio.lowlevel.Task) -> str:
        if held.kind.runs == "process" and self._processes is not None:
            return await self._processes.stack(task) or "its process has not started or does not answer\n"
        return stack_of(held, task)

    def _held(self, job_id: int) -> Held:
        held = self.holdings.get(job_id)
        if held is None:
            raise NotFound(f"worker {self.claimer.worker_id} does not hold job {job_id}")
        return held

    def _refuse_while_stopping(self) -> None:
        if self._stopping:
            raise WrongState(f"worker {self.claimer.worker_id} is draining")

    async def run(self) -> None:
        """Work until drained. Raises ActorFailed."""
        tell = self._announcer.actor_failed
        await self.presence.register()
        self._announcer.worker_started(self.claimer.queues, self._app.served_kinds, self.claimer.slots)
        await self.dispatcher.warm_up()
        await self.settler.warm_up()
        self._announcer.worker(WorkerReady)
        log.info(
            "starting worker %s (%s) for role %s with %d slots",
            self.claimer.worker_id, self.presence.worker_name, ", ".join(self.claimer.queues) or "(all)", self.dispatcher.slots,
            extra={"worker_id": self.claimer.worker_id, "incarnation": str(self.claimer.incarnation)},
        )  # fmt: skip
        async with trio.open_nursery() as helpers:
            watcher = Watcher(self.running, self._pulse, helpers)
            for actor in (self.settler, self.scribe, self.keeper, self.presence, watcher):
                helpers.start_soon(supervise, actor, tell)
            handlers = self._desk.open(self._database, max(self.claimer.slots, HANDLER_CONNECTIONS))
            with keeping_logs(self._desk.journal, self.claimer.worker_id, self._app):
                async with self._processes or nullcontext(), handlers, trio.open_nursery() as workers:
                    workers.start_soon(self._dispatch)
                    self._workers = workers
                    self._start_slots(self.dispatcher.slots)
            await self._finish()
            helpers.cancel_scope.cancel()

    async def _dispatch(self) -> None:
        with self._claiming:
            await supervise(self.dispatcher, self._announcer.actor_failed)
        self._backlog.close()

    def _start_slots(self, count: int) -> None:
        assert self._workers is not None
        for _ in range(count):
            self._numbered += 1
            # Trio names threads after the task that started them: that is how stacks are found.
            self._workers.start_soon(
                self._serve, self._make_slot(), name=f"slot {self._numbered} of {self.claimer.worker_id}"
            )

    async def _serve(self, slot: Slot) -> None:
        self._slots[slot] = trio.lowlevel.current_task()
        try:
            await self._serve_until_dismissed(slot)
        finally:
            del self._slots[slot]

    async def _serve_until_dismissed(self, slot: Slot) -> None:
        """Run jobs in a slot until the backlog is closed or lets it go. Lets the other tasks turn every few jobs."""
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
                if self._backlog.lets_go():
                    last = None
                    return None
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

    def _hear_command(self, notice: CommandNotice) -> None:
        if notice.incarnation == str(self.claimer.incarnation):
            self.presence.beat_soon()

    def _look_again(self) -> None:
        self.presence.beat_soon()
        self.dispatcher.wake()
