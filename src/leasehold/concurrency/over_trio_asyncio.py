"""The border that trio-asyncio makes: a loop of its own, written anew on trio. The one module that knows that library.

Importing it changes asyncio's event loop policy for the whole process.
"""

# trio-asyncio carries no types; what it returns is typed where it leaves this module.
# pyright: reportAttributeAccessIssue=false, reportInvalidTypeArguments=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import trio
import trio_asyncio

from leasehold.concurrency.shared_loop import shared, wraps_only
from leasehold.errors import ClientClosed

T = TypeVar("T")


class TrioAsyncioBorder:
    """See `Border`."""

    def current_loop(self) -> asyncio.AbstractEventLoop | None:
        """As `Border.current_loop`; a loop that the program opened with trio-asyncio itself counts, too."""
        return trio_asyncio.current_loop.get()

    @asynccontextmanager
    async def open_loop(self) -> AsyncGenerator[None]:
        """As `Border.open_loop`: what the block raises is taken out of the groups that trio-asyncio's nurseries make."""
        raised: BaseException | None = None
        try:
            async with trio_asyncio.open_loop() as loop:
                try:
                    with shared(loop):
                        yield
                except BaseException as error:
                    raised = error
                    raise
        except BaseExceptionGroup as group:
            if raised is not None and wraps_only(group, raised):
                raise raised from raised.__cause__
            raise

    async def cross(self, function: Callable[..., Awaitable[T]], /, *args: Any, **named: Any) -> T:
        """As `Border.cross`."""
        if trio_asyncio.current_loop.get() is None:
            raise ClientClosed
        await trio.lowlevel.checkpoint_if_cancelled()
        return await trio_asyncio.aio_as_trio(function)(*args, **named)

    async def loop_ended(self) -> None:
        """As `Border.loop_ended`."""
        loop = trio_asyncio.current_loop.get()
        try:
            await loop.wait_stopped()
        except trio.Cancelled:
            if loop.is_running():
                raise
