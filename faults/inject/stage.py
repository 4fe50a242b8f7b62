"""What an injection may touch."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeVar

import msgspec
import trio

from faults.fleet.fleet import Fleet
from faults.fleet.member import Member
from faults.fleet.proxy import Proxy
from faults.fleet.server import Server
from faults.load.clients import Clients
from faults.load.mix import Mix

T = TypeVar("T")
Targets = tuple[str, ...]
"""The processes that a fault is for; none: the database, so everybody."""


class Stage(msgspec.Struct, frozen=True):
    """The fleet, its server, the clients and their proxy; `dice` and `hold` (seconds) are of one fault."""

    fleet: Fleet
    server: Server
    clients: Clients
    mix: Mix
    client_proxy: Proxy
    dice: Random
    hold: float

    @property
    def worker(self) -> Member:
        """One of the workers."""
        return self.dice.choice(self.fleet.workers)

    @property
    def member(self) -> Member:
        """One of those that talk to Postgres much: mostly a worker."""
        others = [*self.fleet.reapers, *self.fleet.schedulers, self.fleet.gateway]
        return self.worker if self.dice.random() < 0.7 else self.dice.choice(others)

    async def wait(self) -> None:
        """As long as the fault lasts."""
        await trio.sleep(self.hold)


async def blocking(work: Callable[[], T]) -> T:
    """Something that blocks, in a thread."""
    return await trio.to_thread.run_sync(work, abandon_on_cancel=True)
