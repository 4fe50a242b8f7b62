"""Several things at once, under trio and under asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import trio

from leasehold.concurrency.flavours import running_flavour

Start = Callable[[Callable[[], Awaitable[Any]]], Callable[[], object]]


@asynccontextmanager
async def tasks() -> AsyncGenerator[Start]:
    """`cancel = start(function)` begins a task; the block ends when all have ended."""
    if running_flavour() == "trio":
        async with trio.open_nursery() as nursery:

            def start(function: Callable[[], Awaitable[Any]]) -> Callable[[], object]:
                scope = trio.CancelScope()

                async def scoped() -> None:
                    with scope:
                        await function()

                nursery.start_soon(scoped)
                return scope.cancel

            yield start
        return
    async with asyncio.TaskGroup() as group:

        async def run(function: Callable[[], Awaitable[Any]]) -> None:
            await function()

        yield lambda function: group.create_task(run(function)).cancel
