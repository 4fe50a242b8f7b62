"""Programs of either flavour."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import trio


def in_flavour(flavour: str, main: Callable[[], Awaitable[Any]]) -> None:
    """Run a program under trio or under asyncio."""
    if flavour == "trio":
        trio.run(main)
        return
    asyncio.run(_as_coroutine(main))


async def _as_coroutine(main: Callable[[], Awaitable[Any]]) -> None:
    await main()
