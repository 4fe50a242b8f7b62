"""Work that blocks, in a thread, for either event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from typing import TypeVar, cast

from leasehold.concurrency.flavour import running_flavour

T = TypeVar("T")

_END = object()


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
