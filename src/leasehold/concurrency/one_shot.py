"""Something that happens once, for either event loop."""

from __future__ import annotations

import asyncio
from typing import Protocol

from leasehold.concurrency.flavour import running_flavour


class Moment(Protocol):
    """Set once, from the thread that waits."""

    def set(self) -> object:
        """Now."""
        ...

    async def within(self, seconds: float | None) -> bool:
        """Wait for it, at most `seconds`; returns whether it has come. A checkpoint."""
        ...


def new_moment() -> Moment:
    """One for the running flavour."""
    return _TrioMoment() if running_flavour() == "trio" else _AsyncioMoment()


async def pause(seconds: float) -> None:
    """Wait this many seconds, in the running flavour."""
    if running_flavour() == "trio":
        import trio  # noqa: PLC0415  a program under asyncio needs none

        await trio.sleep(seconds)
    else:
        await asyncio.sleep(seconds)


class _TrioMoment:
    def __init__(self) -> None:
        import trio  # noqa: PLC0415  a program under asyncio needs none

        self._event = trio.Event()
        self.set = self._event.set

    async def within(self, seconds: float | None) -> bool:
        import trio  # noqa: PLC0415  a program under asyncio needs none

        with trio.move_on_after(float("inf") if seconds is None else seconds):
            await self._event.wait()
        return self._event.is_set()


class _AsyncioMoment:
    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.set = self._event.set

    async def within(self, seconds: float | None) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._event.wait()
        except TimeoutError:
            pass
        return self._event.is_set()
