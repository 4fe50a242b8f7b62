"""Workers that only report, as one in another language would: each heartbeat says what the test wants to be seen."""

from __future__ import annotations

from time import monotonic
from typing import Any
from urllib.parse import quote
from uuid import NAMESPACE_DNS, uuid5

from tests.gateway.fakes.running import RunningGateway
from tests.support.waiting import PATIENCE

NOTHING: list[dict[str, Any]] = []


def incarnation_of(worker_id: str) -> str:
    return str(uuid5(NAMESPACE_DNS, worker_id.encode("unicode_escape").decode()))


def beat(gateway: RunningGateway, worker_id: str, **fields: Any) -> list[dict[str, Any]]:
    """A heartbeat; answers the commands for the worker."""
    body = {"incarnation": incarnation_of(worker_id), "version": "go 1", **fields}
    return gateway.done("POST", f"/api/workers/{quote(worker_id, safe='')}/heartbeat", body)["commands"] or NOTHING


def register(gateway: RunningGateway, worker_id: str, **fields: Any) -> None:
    """The first heartbeat makes a worker known, the second one says how it fares."""
    beat(gateway, worker_id, **fields)
    beat(gateway, worker_id, **fields)


def obey(gateway: RunningGateway, worker_id: str, result: Any = None, **fields: Any) -> dict[str, Any]:
    """Send heartbeats until there is a command, and acknowledge it; `fields` are how the worker is from then on."""
    deadline = monotonic() + PATIENCE
    while not (commands := beat(gateway, worker_id, **fields)):
        assert monotonic() < deadline, "no command came"
    beat(gateway, worker_id, acknowledged=[{"id": each["id"], "result": result} for each in commands], **fields)
    return commands[0]
