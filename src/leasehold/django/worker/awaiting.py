"""Tasks that are coroutines, in a thread of the worker."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.db import connections


def awaited(function: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
    """What the coroutine returns, run on an event loop of its own in this thread.

    It is asyncio's own loop: `async_to_sync` would take the one of trio-asyncio once that is loaded, and that runs no code of
    asgiref's. What the coroutine does with the ORM happens in one thread of its own, whose connections are closed in the end.
    """
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        return runner.run(_within_one_thread(function, *args, **kwargs))


async def _within_one_thread(function: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
    async with ThreadSensitiveContext():
        try:
            return await function(*args, **kwargs)
        finally:
            await sync_to_async(connections.close_all)()
