"""Workers: who they are, what they do, and telling them what to do."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from leasehold.client.core import Part
from leasehold.database.calls import from_row
from leasehold.records.workers import LeaseRecord, WorkerRecord


class Workers(Part):
    """`client.workers`.

    A worker is called by its id, its friendly name, its incarnation, or the beginning of one that only it has.
    """

    async def list(self, *, stopped: bool = False) -> list[WorkerRecord]:
        """List the workers, those alive first; with `stopped` also those that have ended and are still remembered."""
        return await self._records(WorkerRecord, "list_workers", stopped)

    async def get(self, worker: str) -> WorkerRecord:
        """Return one worker, alive or not.

        Raises:
            UnknownWorker: there is no such worker.
            BadInput: several workers are meant.
        """
        return from_row(WorkerRecord, (await self._database.call("get_worker", worker))[0])

    async def leases(self, worker: str | None = None, *, most: int = 1000) -> builtins.list[LeaseRecord]:
        """List the leases that one worker holds, or all workers, those first that run out next.

        Raises:
            UnknownWorker: there is no such worker.
            BadInput: several workers are meant, or `most` is not from 1 to 10000.
        """
        return await self._records(LeaseRecord, "list_leases", worker, most)

    async def command(
        self,
        worker: str,
        command: str,
        args: Mapping[str, int] | None = None,
        *,
        valid_for: timedelta = timedelta(minutes=5),
    ) -> int:
        """Tell a worker what to do; returns the id of the command. A worker that listens carries it out at once.

        Example:
            command_id = await client.workers.command("brave-otter", "pause")
            print((await client.commands.wait(command_id)).state)

        Args:
            command: `decommission`, `pause`, `resume`, `set_concurrency`, `cancel_job`, `dump_stacks`.
            args: of the command: `slots` of set_concurrency, `job_id` of cancel_job and, if you like, of dump_stacks.
            valid_for: a worker that has not received it by then never will.

        Raises:
            UnknownWorker: there is no such worker.
            BadInput: no such command or args, or several workers are meant.
            WrongState: the worker has ended, or has been silent for two of its heartbeats.
        """
        encoded = msgspec.json.encode(dict(args or {})).decode()
        rows = await self._database.call("command_worker", worker, command, encoded, valid_for)
        return int(rows[0][0])

    async def register(
        self, incarnation: UUID, worker_id: str, *, host: str, pid: int, version: str, queues: builtins.list[str],
        kinds: builtins.list[str], slots: int, name: str | None = None, app_version: str | None = None,
        memory_limit: int | None = None, cpu_limit: float | None = None, listening: bool = False,
    ) -> str:  # fmt: skip
        """Make a worker known that you run yourself; returns its friendly name.

        Args and errors are those of the SQL function `leasehold.register_worker`.
        """
        return str(
            await self._database.call_value(
                "register_worker", incarnation, worker_id, host, pid, version, queues, kinds, slots, listening, name,
                app_version, memory_limit, cpu_limit,
            )
        )  # fmt: skip

    async def heartbeat(
        self, incarnation: UUID, *, active_jobs: int, state: str, listening: bool = False, **vitals: Any
    ) -> builtins.list[dict[str, Any]] | None:
        """Say that a worker that you run yourself is alive; returns its open commands, None where it is not registered.

        `vitals` are slots, memory, cpu, backoff, backoff_for, rss, cpu_user, cpu_system and stray_handlers, as in the SQL
        function `leasehold.heartbeat_worker`.
        """
        [row] = await self._database.call("heartbeat_worker", incarnation, active_jobs, state, listening, **vitals)
        if not row["is_known"]:
            return None
        return [] if row["commands"] is None else msgspec.json.decode(row["commands"])

    async def stop(self, incarnation: UUID) -> None:
        """Say that a worker that you run yourself has ended."""
        await self._database.call("stop_worker", incarnation)
