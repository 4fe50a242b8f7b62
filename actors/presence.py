"""The worker's row: registered at the start, a heartbeat now and then, stopped at the end."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

from leasehold.actors.dispatcher import Claimer
from leasehold.database import Caller
from leasehold.notify.signal import Signal


class Presence:
    """Keeps `leasehold.workers` true about this process."""

    name = "presence"

    def __init__(
        self, caller: Caller, claimer: Claimer, kinds: list[str], seconds: float,
        active: Callable[[], int], is_listening: Callable[[], bool],
    ) -> None:  # fmt: skip
        self._caller = caller
        self._claimer = claimer
        self._kinds = kinds
        self._seconds = seconds
        self._active = active
        self._is_listening = is_listening
        self._state = "ready"
        self._soon = Signal()

    async def register(self) -> None:
        """Make the worker known. Raises DatabaseUnavailable."""
        await self._caller.call(
            "register_worker", self._claimer.incarnation, self._claimer.worker_id, socket.gethostname(), os.getpid(),
            package_version(), list(self._claimer.queues), self._kinds, self._claimer.slots, self._is_listening(),
        )  # fmt: skip

    async def run(self) -> None:
        """Beat until cancelled. Raises DatabaseUnavailable."""
        while True:
            await self.beat()
            await self._soon.wait(self._seconds)

    async def beat(self) -> None:
        """One heartbeat; registers again where the row is gone."""
        known = await self._caller.call_value(
            "heartbeat_worker", self._claimer.incarnation, self._active(), self._state, self._is_listening()
        )
        if not known:
            await self.register()

    def beat_soon(self) -> None:
        """Something that the row shows has changed."""
        self._soon.set()

    def drain(self) -> None:
        """Show the worker as draining."""
        self._state = "draining"
        self.beat_soon()

    async def leave(self) -> None:
        """Show the worker as stopped. Raises DatabaseUnavailable."""
        await self._caller.call("stop_worker", self._claimer.incarnation)


def package_version() -> str:
    """The version of leasehold that is installed."""
    try:
        return version("leasehold")
    except PackageNotFoundError:
        return "unknown"
