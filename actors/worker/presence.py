"""The worker's row: registered at the start, a heartbeat now and then, stopped at the end.

A heartbeat also brings the commands for the worker. They are carried out one after the other, and acknowledged; what is
not acknowledged comes again, so each is carried out once by its id.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import msgspec
import trio

from leasehold.actors.identity import State, WorkerIdentity
from leasehold.actors.leases.poll import PollDecay, asleep_heartbeat, is_due
from leasehold.actors.worker.machine import Usage
from leasehold.concurrency.signal import Signal
from leasehold.database import Caller, Row
from leasehold.errors import LeaseholdError

log = logging.getLogger(__name__)

COMMAND_SECONDS = 20.0
OF_ITS_OWN = ("stray_handlers", "usage")
"""What a heartbeat that rides with a poll says in other words, or leaves to one of our own: that follows each change of it."""
Answer = tuple[str | None, str | None]


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What does not change while a worker lives. `memory_limit` is in bytes. See `leasehold.register_worker`."""

    kinds: list[str]
    host: str
    name: str | None = None
    app_version: str | None = None
    memory_limit: int | None = None
    cpu_limit: float | None = None


class Vitals(msgspec.Struct, frozen=True, kw_only=True):
    """What a heartbeat tells. `memory` and `cpu` are shares of the limits, `backoff` is the reason for a back-off, and
    `backoff_for` the seconds that are left of it; `stray_handlers` still run although their jobs are gone; `usage` is that of the
    process. See `leasehold.heartbeat_worker`."""

    state: State
    active_jobs: int
    slots: int
    listening: bool
    memory: float | None = None
    cpu: float | None = None
    backoff: str | None = None
    backoff_for: float | None = None
    lost_wake_ups: int = 0
    stray_handlers: int = 0
    usage: Usage | None = None


class WorkerCommand(msgspec.Struct, frozen=True):
    """What the worker is told to do."""

    id: int
    command: str
    args: dict[str, Any]


CarryOut = Callable[[WorkerCommand], Awaitable[object]]
"""Carries a command out and returns the result, or raises the reason why not."""


Place = Callable[[bool, int], object]
"""Is told whether the worker is to listen, and how many idle workers like it poll. See `leasehold.find_place`."""


class Presence:
    """Keeps the row of this process in `leasehold.workers` up to date.

    A heartbeat comes every `seconds`, with a poll of the dispatcher where there are some, and at once when `is_urgent` is set.
    Where the worker is asleep, it comes more rarely, and says so: by this others take a worker for dead.

    Attributes:
        worker_name: the friendly name; empty before `register`.
    """

    name = "presence"

    def __init__(
        self,
        caller: Caller,
        identity: WorkerIdentity,
        about: About,
        seconds: float,
        vitals: Callable[[], Vitals],
        carry_out: CarryOut,
        *,
        is_urgent: Signal,
        place: Place,
    ) -> None:
        self._caller = caller
        self._identity = identity
        self._about = about
        self._seconds = self._pace = seconds
        self._vitals = vitals
        self._carry_out = carry_out
        self._answers: dict[int, Answer] = {}
        self._is_urgent = is_urgent
        self._place = place
        self._beaten_at = float("-inf")
        self._riding = vitals()
        self.worker_name = ""

    async def register(self, caller: Caller | None = None) -> None:
        """Make the worker known, over this connection where it is given. Raises DatabaseUnavailable."""
        about, vitals = self._about, self._vitals()
        self.worker_name = str(
            await (caller or self._caller).call_value(
                "register_worker", self._identity.incarnation, self._identity.worker_id, about.host, os.getpid(),
                package_version(), list(self._identity.queues), about.kinds, vitals.slots, vitals.listening,
                about.name, about.app_version, about.memory_limit, about.cpu_limit, self._seconds,
            )
        )  # fmt: skip

    async def run(self) -> None:
        """Beat until cancelled. Raises DatabaseUnavailable."""
        while True:
            commands = await self.beat()
            if commands:
                await self._obey(commands)
            else:
                await self._rest()

    async def _rest(self) -> None:
        """Until something is urgent, or no heartbeat was sent for as long as the last one said, from here or with a poll."""
        while (rest := self._beaten_at + self._pace - trio.current_time()) > 0:
            if await self._is_urgent.wait(rest):
                return

    def ask(self, poll: PollDecay) -> Mapping[str, object]:
        """A heartbeat for the poll to take along, where one is due before the next poll."""
        pace = asleep_heartbeat(self._seconds) if poll.is_asleep else self._seconds
        if not is_due(trio.current_time() - self._beaten_at, pace, poll.longest):
            return {}
        self._pace, now = pace, self._vitals()
        self._riding = now
        vitals = {name: getattr(now, name) for name in Vitals.__struct_fields__ if name not in OF_ITS_OWN}
        vitals |= {"heartbeat_seconds": pace} | (now.usage._asdict() if now.usage else {})
        return {"incarnation": self._identity.incarnation, "vitals": msgspec.json.encode(vitals).decode()}

    def take_answer(self, row: Row) -> None:
        """The poll has sent the heartbeat. If the row is gone or there are commands, a heartbeat of our own goes after it."""
        if (is_known := row.get("is_known")) is None:
            return  # a database of the release before
        self._beaten(row, self._riding)
        if not is_known or row["are_told"]:
            self.beat_soon()

    def _beaten(self, row: Row, said: Vitals) -> None:
        self._beaten_at = trio.current_time()
        now = self._vitals()
        if (now.listening, now.state, now.slots) != (said.listening, said.state, said.slots):
            self.beat_soon()  # two heartbeats may have been on their way at once, and the older one have come last
        # On a database of the release before all listen; one that does not know the worker knows no place for it.
        if (is_to_listen := row.get("is_to_listen", True)) is not None:
            self._place(is_to_listen, row.get("idle_alike", 1))

    async def beat(self) -> list[WorkerCommand]:
        """Send a heartbeat; register again if the row is gone. Returns the commands that are not acknowledged.

        Raises DatabaseUnavailable.
        """
        self._pace, now = self._seconds, self._vitals()
        [row] = await self._caller.call(
            "heartbeat_worker", self._identity.incarnation, now.active_jobs, now.state, now.listening, now.slots,
            now.memory, now.cpu, now.backoff, now.backoff_for, now.lost_wake_ups,
            *(now.usage or (None, None, None)), heartbeat_seconds=self._pace, stray_handlers=now.stray_handlers,
        )  # fmt: skip
        self._beaten(row, now)
        if not row["is_known"]:
            await self.register()
            self.beat_soon()  # a new row says ready, whatever the worker is
        return [] if row["commands"] is None else msgspec.json.decode(row["commands"], type=list[WorkerCommand])

    def forget_commands(self) -> None:
        """Forget the answers to commands: in another epoch the ids of commands may come again."""
        self._answers.clear()
        self.beat_soon()

    def beat_soon(self) -> None:
        """Send a heartbeat at once: something that the row shows has changed, or there is a command."""
        self._is_urgent.set()

    async def leave(self) -> None:
        """Acknowledge what was carried out, and show the worker as stopped. Raises DatabaseUnavailable.

        A worker that was told to end, and has nothing to end, is here before it has acknowledged that.
        """
        for command_id, answer in list(self._answers.items()):
            await self._acknowledge(command_id, answer)
        await self._caller.call("stop_worker", self._identity.incarnation)

    async def _obey(self, commands: list[WorkerCommand]) -> None:
        for command in commands:
            if command.id not in self._answers:
                self._answers[command.id] = await self._answer(command)
            await self._acknowledge(command.id, self._answers[command.id])
        # Everything up to here is acknowledged, and comes no more.
        self._answers.clear()

    async def _acknowledge(self, command_id: int, answer: Answer) -> None:
        await self._caller.call("acknowledge_command", self._identity.incarnation, command_id, *answer)

    async def _answer(self, command: WorkerCommand) -> Answer:
        log.info("told to %s (command %d)", _describe(command), command.id, extra={"command_id": command.id})
        with trio.move_on_after(COMMAND_SECONDS):
            try:
                return msgspec.json.encode(await self._carry_out(command)).decode(), None
            except LeaseholdError as error:
                log.warning("command %d was not carried out: %s", command.id, error)
                return None, str(error)
            except Exception as error:
                log.exception("command %d failed", command.id)
                return None, f"{type(error).__name__}: {error}"
        return None, f"not done after {COMMAND_SECONDS:g} s"


def _describe(command: WorkerCommand) -> str:
    return " ".join([command.command.replace("_", " "), *(f"{name} {value}" for name, value in command.args.items())])


def package_version() -> str:
    """The version of leasehold that is installed."""
    try:
        return version("leasehold")
    except PackageNotFoundError:
        return "unknown"
