"""What code needs that runs under trio and under asyncio alike: which one it is, waiting, and threads in both directions.

trio is loaded only where it runs, so a program under asyncio needs none.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator
from typing import Any, Literal, Protocol, TypeVar, cast

import sniffio

T = TypeVar("T")

Flavour = Literal["trio", "asyncio"]

_END = object()


def running_flavour() -> Flavour:
    """`trio` or `asyncio`: the one that runs the caller.

    Raises RuntimeError outside both.
    """
    library = sniffio.current_async_library()
    if library == "trio":
        return "trio"
    if library == "asyncio":
        return "asyncio"
    raise RuntimeError(f"leasehold runs under trio and asyncio, not under {library}")


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


async def in_thread(function: Callable[..., T], *args: object) -> T:
    """Run it in a thread and wait for its end, also when the caller is cancelled: it never goes on alone."""
    if running_flavour() == "trio":
        import trio  # noqa: PLC0415  a program under asyncio needs none

        return await trio.to_thread.run_sync(function, *args)
    running = asyncio.get_running_loop().run_in_executor(None, function, *args)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise


async def each_in_thread(items: Iterator[T]) -> AsyncGenerator[T]:
    """The items, each made in a thread. Close it, as with `aclosing`, where it may not be read to its end."""
    try:
        while (item := await in_thread(next, items, _END)) is not _END:
            yield cast("T", item)
    finally:
        if isinstance(items, Generator):
            items.close()


def run_in_loop(function: Callable[..., Awaitable[T]], *args: Any) -> T:
    """What the async function returns, in the loop of this thread. Raises RuntimeError where the thread has none."""
    import trio  # noqa: PLC0415  as the module says

    return trio.from_thread.run(function, *args)


def check_cancelled() -> None:
    """Raise `trio.Cancelled` where the task that waits for this thread was cancelled; RuntimeError where there is none."""
    import trio  # noqa: PLC0415  as the module says

    trio.from_thread.check_cancelled()
