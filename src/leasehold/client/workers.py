"""The fleet: who the workers are, how they fare, and telling them what to do."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from time import monotonic
from typing import Any
from uuid import UUID

import msgspec

from leasehold.client.ids import checked_before, checked_id
from leasehold.client.section import Section
from leasehold.concurrency.one_shot import pause
from leasehold.database import Row
from leasehold.database.rows import from_row
from leasehold.errors import UnknownCommand, WaitTimeout
from leasehold.records.workers import CommandRecord, WorkerRecord

ENDED = ("done", "failed", "expired")
FIRST_LOOK_SECONDS = 0.02
LAST_LOOK_SECONDS = 0.5


class Workers(Section):
    """The section of the client about workers.

    A worker is called by its id, its friendly name, its incarnation, or the beginning of one that only it has.
    """

    async def workers(self, *, stopped: bool = False) -> list[WorkerRecord]:
        """The workers, those alive first; with `stopped` also those that have ended and are not forgotten yet."""
        return [from_row(WorkerRecord, row) for row in await self._database.call("list_workers", stopped)]

    async def worker(self, worker: str) -> WorkerRecord:
        """One worker, alive or not. Raises UnknownWorker; BadInput where several are meant."""
        return from_row(WorkerRecord, (await self._database.call("get_worker", worker))[0])

    async def command_worker(
        self,
        worker: str,
        command: str,
        args: Mapping[str, int] | None = None,
        *,
        valid_for: timedelta = timedelta(minutes=5),
    ) -> int:
        """Tell a worker what to do; returns the id of the command. It is carried out at once by a worker that listens.

        Args:
            worker: which.
            command: `decommission`, `pause`, `resume`, `set_concurrency`, `cancel_job`, `dump_stacks`.
            args: of the command: `slots` of set_concurrency, `job_id` of cancel_job and, if you like, of dump_stacks.
            valid_for: a worker that has not heard of it by then never will.

        Raises:
            UnknownWorker; BadInput: no such command or args, or several workers are meant.
            WrongState: the worker has ended, or it is stale: it was not heard of for two of its heartbeats.
        """
        encoded = msgspec.json.encode(dict(args or {})).decode()
        rows = await self._database.call("command_worker", worker, command, encoded, valid_for)
        return int(rows[0][0])

    async def command(self, command_id: int) -> CommandRecord:
        """How a command stands. Raises UnknownCommand."""
        rows = await self._database.call("get_command", checked_id(command_id))
        if not rows:
            raise UnknownCommand(f"there is no command {command_id}")
        return _command(rows[0])

    async def commands(self, worker: str, *, before_id: int | None = None, page_size: int = 50) -> list[CommandRecord]:
        """What a worker was told to do, newest first; pass the last id as `before_id` for the next page.

        Raises UnknownWorker, BadInput.
        """
        rows = await self._database.call("list_commands", worker, checked_before(before_id), page_size)
        return [_command(row) for row in rows]

    async def answer_of(self, command_id: int, *, timeout: float = 10.0) -> CommandRecord:
        """Wait until a command is done, has failed or has expired. Raises UnknownCommand; WaitTimeout after `timeout` seconds, when
        the command goes on."""
        until, span = monotonic() + timeout, FIRST_LOOK_SECONDS
        while (found := await self.command(command_id)).state not in ENDED:
            if monotonic() >= until:
                raise WaitTimeout(f"command {command_id} is {found.state} after {timeout:g} s; it goes on")
            await pause(min(span, until - monotonic()))
            span = min(span * 2, LAST_LOOK_SECONDS)
        return found

    async def register_worker(
        self, incarnation: UUID, worker_id: str, *, host: str, pid: int, version: str, queues: list[str],
        kinds: list[str], slots: int, name: str | None = None, app_version: str | None = None,
        memory_limit: int | None = None, cpu_limit: float | None = None, listening: bool = False,
    ) -> str:  # fmt: skip
        """Make a worker known that somebody else runs; returns its friendly name. See `leasehold.register_worker`."""
        return str(
            await self._database.call_value(
                "register_worker", incarnation, worker_id, host, pid, version, queues, kinds, slots, listening, name,
                app_version, memory_limit, cpu_limit,
            )
        )  # fmt: skip

    async def heartbeat_worker(
        self, incarnation: UUID, *, active_jobs: int, state: str, listening: bool = False, **vitals: Any
    ) -> list[dict[str, Any]] | None:
        """Say that such a worker is alive; returns the commands that it has not acknowledged, None where it is not known.

        `vitals` are slots, memory, cpu, backoff and backoff_for, as in `leasehold.heartbeat_worker`.
        """
        [row] = await self._database.call("heartbeat_worker", incarnation, active_jobs, state, listening, **vitals)
        if not row["is_known"]:
            return None
        return [] if row["commands"] is None else msgspec.json.decode(row["commands"])

    async def acknowledge_command(
        self, incarnation: UUID, command_id: int, *, result: Any = None, error: str | None = None
    ) -> bool:
        """Say for such a worker what came of a command; returns whether nobody had said so before."""
        encoded = msgspec.json.encode(result).decode()
        called = ("acknowledge_command", incarnation, checked_id(command_id), encoded if error is None else None, error)
        return bool(await self._database.call_value(*called))

    async def stop_worker(self, incarnation: UUID) -> None:
        """Say that such a worker has ended."""
        await self._database.call("stop_worker", incarnation)


def _command(row: Row) -> CommandRecord:
    return msgspec.structs.replace(from_row(CommandRecord, row), error=row["error"])
