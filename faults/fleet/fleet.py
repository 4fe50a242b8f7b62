"""All processes of a run."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import trio

from benchmarks.processes import free_port
from faults.fleet.member import Member
from faults.fleet.proxy import Proxy, open_proxy
from faults.fleet.server import Server
from faults.load.diary import FOLDER

APP = "faults.load.app:app"


class Shape(msgspec.Struct, frozen=True):
    """How many of what, and the times they go by (seconds)."""

    workers: int = 3
    slots: int = 8
    reapers: int = 2
    schedulers: int = 2
    lease: float = 3.0
    renew: float = 0.75
    poll: float = 1.0
    heartbeat: float = 1.0


class Fleet(msgspec.Struct, frozen=True):
    """The members by what they are."""

    workers: list[Member]
    reapers: list[Member]
    schedulers: list[Member]
    gateway: Member

    @property
    def members(self) -> list[Member]:
        """All of them."""
        return [*self.workers, *self.reapers, *self.schedulers, self.gateway]


class Place(msgspec.Struct, frozen=True):
    """Where a fleet runs: its server, and the folder for logs and diaries."""

    server: Server
    folder: Path
    nursery: trio.Nursery

    async def proxy(self) -> Proxy:
        """A new one to the server."""
        return await open_proxy(self.nursery, self.server.socket_path)

    async def member(self, name: str, args: list[str], shape: Shape, **env: str) -> Member:
        """A process that has not been started yet."""
        proxy = await self.proxy()
        settings = {
            "LEASEHOLD_LEASE_SECONDS": str(shape.lease),
            "LEASEHOLD_RENEW_SECONDS": str(shape.renew),
            "LEASEHOLD_POLL_SECONDS": str(shape.poll),
            "LEASEHOLD_HEARTBEAT_SECONDS": str(shape.heartbeat),
            "LEASEHOLD_DRAIN_SECONDS": "5",
            "LEASEHOLD_LOG_FORMAT": "text",
            FOLDER: str(self.folder / "diaries"),
        }
        return Member(name, args, {**settings, **env}, proxy, self.folder)


@asynccontextmanager
async def open_fleet(place: Place, shape: Shape) -> AsyncGenerator[Fleet]:
    """Processes of this shape, running; all ended with the block."""
    (place.folder / "diaries").mkdir(exist_ok=True)
    fleet = Fleet(
        [
            await place.member(
                f"worker-{n}", ["run", "worker"], shape,
                LEASEHOLD_APP=APP, LEASEHOLD_SLOTS=str(shape.slots), LEASEHOLD_WORKER_ID=f"worker-{n}",
            )
            for n in range(shape.workers)
        ],
        [await place.member(f"reaper-{n}", ["run", "reaper"], shape) for n in range(shape.reapers)],
        [await place.member(f"scheduler-{n}", ["run", "scheduler"], shape) for n in range(shape.schedulers)],
        await place.member("gateway", ["gateway", "--port", str(port := free_port())], shape, GATEWAY_URL=f"http://127.0.0.1:{port}"),
    )  # fmt: skip
    try:
        async with trio.open_nursery() as nursery:
            for member in fleet.members:
                nursery.start_soon(member.run)
            yield fleet
            nursery.cancel_scope.cancel()
    finally:
        for member in fleet.members:
            member.end()
