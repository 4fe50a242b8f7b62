"""What a worker can be told to do. See `leasehold.command_worker` for the commands and their args."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any, Protocol

from leasehold.actors.presence import Command
from leasehold.errors import BadInput


class Commanded(Protocol):
    """A worker, as far as commands reach it. Each method raises WrongState or NotFound where it cannot do it."""

    def decommission(self) -> dict[str, Any]: ...
    def pause(self) -> dict[str, Any]: ...
    def resume(self) -> dict[str, Any]: ...
    def scale(self, slots: int) -> dict[str, Any]: ...
    def cancel_job(self, job_id: int) -> Awaitable[dict[str, Any]]: ...
    def dump_stacks(self, job_id: int | None) -> Awaitable[dict[str, Any]]: ...


async def carry_out(worker: Commanded, command: Command) -> dict[str, Any]:
    """Do it; returns the result. Raises what the worker raises, and BadInput for a command of a later version."""
    match command:
        case Command(command="decommission"):
            return worker.decommission()
        case Command(command="pause"):
            return worker.pause()
        case Command(command="resume"):
            return worker.resume()
        case Command(command="set_concurrency", args={"slots": int(slots)}):
            return worker.scale(slots)
        case Command(command="cancel_job", args={"job_id": int(job_id)}):
            return await worker.cancel_job(job_id)
        case Command(command="dump_stacks", args=args):
            return await worker.dump_stacks(args.get("job_id"))
        case _:
            raise BadInput(f"this worker knows no command {command.command} with args {command.args}")
