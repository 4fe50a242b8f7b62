"""Commands: what workers were told to do, and what came of it."""

from __future__ import annotations

from time import monotonic
from typing import Any
from uuid import UUID

import msgspec

from leasehold.asks import checked_before, checked_id
from leasehold.client.core import Part
from leasehold.concurrency.flavours import pause
from leasehold.database import Row
from leasehold.database.calls import from_row
from leasehold.errors import UnknownCommand, WaitTimeout
from leasehold.records.workers import CommandRecord

ENDED = ("done", "failed", "expired")
FIRST_LOOK_SECONDS = 0.02
LAST_LOOK_SECONDS = 0.5


class Commands(Part):
    """`client.commands`. A command is given with `client.workers.command`."""

    async def list(self, worker: str, *, before_id: int | None = None, page_size: int = 50) -> list[CommandRecord]:
        """List what a worker was told to do, newest first; pass the last id as `before_id` for the next page.

        Args:
            worker: which, as everywhere in `client.workers`.
            before_id: only older ones.
            page_size: at most this many.

        Raises:
            UnknownWorker: there is no such worker.
            BadInput: the page size is out of range, or several workers are meant.
        """
        rows = await self._database.call("list_commands", worker, checked_before(before_id), page_size)
        return [_command(row) for row in rows]

    async def get(self, command_id: int) -> CommandRecord:
        """Return one command.

        Raises:
            UnknownCommand: no command has this id.
        """
        rows = await self._database.call("get_command", checked_id(command_id))
        if not rows:
            raise UnknownCommand(f"there is no command {command_id}")
        return _command(rows[0])

    async def wait(self, command_id: int, *, timeout: float = 10.0) -> CommandRecord:
        """Wait until a command is done, has failed or has expired, and return it.

        Args:
            command_id: as `client.workers.command` returned it.
            timeout: seconds.

        Raises:
            UnknownCommand: no command has this id.
            WaitTimeout: the worker has not answered in time; the command goes on.
        """
        until, span = monotonic() + timeout, FIRST_LOOK_SECONDS
        while (found := await self.get(command_id)).state not in ENDED:
            if monotonic() >= until:
                raise WaitTimeout(f"command {command_id} is {found.state} after {timeout:g} s; it goes on")
            await pause(min(span, until - monotonic()))
            span = min(span * 2, LAST_LOOK_SECONDS)
        return found

    async def acknowledge(
        self, incarnation: UUID, command_id: int, *, result: Any = None, error: str | None = None
    ) -> bool:
        """Say what came of a command, for a worker that you run yourself; returns whether nobody had said so before.

        Args:
            incarnation: of the worker, as registered with `client.workers.register`.
            result: any JSON; left out when there is an error.
            error: what went wrong; None: the command is done.
        """
        encoded = msgspec.json.encode(result).decode()
        called = ("acknowledge_command", incarnation, checked_id(command_id), encoded if error is None else None, error)
        return bool(await self._database.call_value(*called))


def _command(row: Row) -> CommandRecord:
    return msgspec.structs.replace(from_row(CommandRecord, row), error=row["error"])
