"""How a worker is told what to do while it runs, by commands and by notices, and what it tells of itself.

See `leasehold.command_worker`. Which workers a notice names is decided in SQL, by `name_idle_workers`.
"""

from __future__ import annotations

import socket
from typing import Any

import trio

from leasehold.actors.attempts.held_job import CANCELLED, HeldJob
from leasehold.actors.running.stacks import stack_of
from leasehold.actors.worker.machine import read_usage
from leasehold.actors.worker.parts import WorkerParts
from leasehold.actors.worker.presence import About, Vitals, WorkerCommand
from leasehold.errors import BadInput, NotFound, WrongState
from leasehold.notify.channel import CommandNotice, Lost, Pause, Wake


class Controls:
    """Carries commands out on the parts of a worker, and tells heartbeats how it fares."""

    def __init__(self, parts: WorkerParts) -> None:
        self._parts = parts
        self._worker_id = parts.identity.worker_id

    def about(self) -> About:
        """What the worker's row shows of it and does not change."""
        load, settings, app = self._parts.backpressure.load(), self._parts.process.settings, self._parts.process.app
        return About(
            kinds=app.served_kinds,
            host=settings.host or socket.gethostname(),
            name=settings.worker_name,
            app_version=settings.app_version or app.version,
            memory_limit=load and load.memory_limit,
            cpu_limit=load and load.cpu_limit,
        )

    def vitals(self) -> Vitals:
        """The present state of the worker, for a heartbeat."""
        load, reason = self._parts.backpressure.load(), self._parts.backpressure.reason
        return Vitals(
            state=self._parts.mode.state,
            active_jobs=len(self._running()),
            slots=self._parts.mode.slots,
            listening=self._parts.process.switchboard.listening,
            memory=load and load.memory,
            cpu=load and load.cpu,
            backoff=reason,
            backoff_for=self._parts.backpressure.seconds_left() if reason else None,
            stray_handlers=self._parts.roster.strays,
            lost_wake_ups=self._parts.dispatcher.statistics().lost_wake_ups,
            usage=read_usage(),
        )

    def take_place(self, is_to_listen: bool, idle_alike: int) -> None:
        """Listen or leave it to others of the fleet, and poll in turns with so many idle workers like this one."""
        self._parts.process.switchboard.rest(not is_to_listen)
        self._parts.dispatcher.share_polls(idle_alike)

    async def carry_out(self, command: WorkerCommand) -> dict[str, Any]:
        """Carry out a command; returns the result.

        Raises:
            NotFound: the worker does not hold the job. WrongState: it drains, or the job has not started.
            BadInput: the command is from a later version.
        """
        match command:
            case WorkerCommand(command="decommission"):
                return self._decommission()
            case WorkerCommand(command="pause" | "resume" as wanted):
                return self._set_paused(wanted == "pause")
            case WorkerCommand(command="set_concurrency", args={"slots": int(slots)}):
                return self._scale(slots)
            case WorkerCommand(command="cancel_job", args={"job_id": int(job_id)}):
                return await self._cancel_job(job_id)
            case WorkerCommand(command="dump_stacks", args=args):
                return await self._dump_stacks(args.get("job_id"))
            case _:
                raise BadInput(f"this worker knows no command {command.command} with args {command.args}")

    def _decommission(self) -> dict[str, Any]:
        running = self._running()
        self._parts.mode.drain()
        return {"state": "draining", "running": running}

    def _set_paused(self, paused: bool) -> dict[str, Any]:
        self._refuse_while_draining()
        self._parts.mode.set_paused(paused)
        return {"state": self._parts.mode.state, "running": self._running()}

    def _scale(self, slots: int) -> dict[str, Any]:
        self._refuse_while_draining()
        return {"was": self._parts.crew.scale(slots), "slots": slots}

    async def _cancel_job(self, job_id: int) -> dict[str, Any]:
        held = self._held(job_id)
        was = await self._parts.process.caller.call_value(
            "cancel_job", job_id, f"by a command to worker {self._worker_id}"
        )
        self._parts.cancels.lose(held, CANCELLED)
        return {"job_id": job_id, "was": was}

    async def _dump_stacks(self, job_id: int | None) -> dict[str, Any]:
        if job_id is not None and job_id not in self._running():
            self._held(job_id)
            raise WrongState(f"job {job_id} is claimed by worker {self._worker_id} and has not started")
        stacks: list[dict[str, Any]] = []
        for slot, task in list(self._parts.roster.slots.items()):
            held = slot.held
            if held is not None and job_id in (None, held.id):
                stacks.append({"job_id": held.id, "kind": held.kind.name, "stack": await self._stack(held, task)})
        return {"stacks": stacks}

    async def _stack(self, held: HeldJob, task: trio.lowlevel.Task) -> str:
        if held.kind.runs == "process" and self._parts.processes is not None:
            return await self._parts.processes.stack(task) or "its process has not started, or does not answer\n"
        return stack_of(held, task)

    def _running(self) -> list[int]:
        return [held.id for held in self._parts.roster.running()]

    def _held(self, job_id: int) -> HeldJob:
        held = self._parts.holdings.get(job_id)
        if held is None:
            raise NotFound(f"worker {self._worker_id} does not hold job {job_id}")
        return held

    def _refuse_while_draining(self) -> None:
        if self._parts.mode.is_draining:
            raise WrongState(f"worker {self._worker_id} is draining")


def subscribe(parts: WorkerParts) -> None:
    """Have the parts of a worker hear the notices that are for it."""

    def on_wake(notice: Wake) -> None:
        if not parts.identity.serves(notice.queue):
            return
        if notice.means(parts.identity.incarnation):
            parts.dispatcher.wake()
        else:
            parts.dispatcher.overhear()

    def on_pause(notice: Pause) -> None:
        parts.dispatcher.pause_queue(notice.queue)

    def on_command(notice: CommandNotice) -> None:
        if notice.incarnation == str(parts.identity.incarnation):
            parts.is_urgent.set()

    def on_lost(notice: Lost) -> None:
        held = parts.holdings.get(notice.job_id)
        if held is not None and held.attempt == notice.attempt:
            parts.cancels.lose(held, notice.reason)

    def look_again() -> None:
        parts.is_urgent.set()
        parts.dispatcher.wake()

    switchboard = parts.process.switchboard
    switchboard.subscribe(Wake, on_wake)
    switchboard.subscribe(Pause, on_pause)
    switchboard.subscribe(CommandNotice, on_command)
    switchboard.subscribe(Lost, on_lost)
    switchboard.subscribe_reconnect(look_again)
