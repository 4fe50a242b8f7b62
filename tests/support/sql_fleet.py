"""Short ways to put workers into a database and to look at them."""

from __future__ import annotations

import json
from typing import Any

from leasehold.database import Caller, Row


async def worker_row(caller: Caller, worker: str) -> Row:
    """The worker as get_worker shows it."""
    (row,) = await caller.call("get_worker", worker)
    return row


async def command(caller: Caller, worker: str, name: str, **args: Any) -> int:
    """Tell a worker what to do; returns the command's id."""
    command_id = await caller.call_value("command_worker", worker, name, json.dumps(args))
    assert isinstance(command_id, int)
    return command_id


async def command_state(caller: Caller, command_id: int) -> str:
    """How a command stands."""
    (row,) = await caller.call("get_command", command_id)
    return row["state"]


async def heard_commands(caller: Caller, incarnation: object, state: str = "ready") -> list[tuple[int, str, Any]]:
    """What a heartbeat answers: id, command and args."""
    (row,) = await caller.call("heartbeat_worker", incarnation, 0, state, True)
    return [(each["id"], each["command"], each["args"]) for each in json.loads(row["commands"] or "[]")]
