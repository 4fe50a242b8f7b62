"""Programs of either flavour."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec

import trio

P = ParamSpec("P")


def in_flavour(flavour: str, main: Callable[[], Awaitable[Any]]) -> None:
    """Run a program under trio or under asyncio."""
    if flavour == "trio":
        trio.run(main)
        return
    asyncio.run(_as_coroutine(main))


async def _as_coroutine(main: Callable[[], Awaitable[Any]]) -> None:
    await main()


def under_asyncio(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """A test that is a program of asyncio; without this one, it would be one of trio."""

    @wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return run
