"""What programs do with asyncio, each as a function whose answer JSON can carry: in a handler it is as under `asyncio.run`.

`python -m tests.support.uses DSN` tries them all, in both, and prints what differs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

Use = Callable[[], Awaitable[Any]]
USES: dict[str, Use] = {}


def use(function: Use) -> Use:
    """Register one."""
    USES[function.__qualname__] = function
    return function


async def answer(name: str) -> Any:
    """What it returns, or what it raises."""
    try:
        return await USES[name]()
    except Exception as error:  # whatever it is, it has to be the same on both sides
        return f"{type(error).__name__}: {error}"[:200]


async def soon(value: Any = 1) -> Any:
    await asyncio.sleep(0)
    return value


async def wrong() -> None:
    await asyncio.sleep(0)
    raise ValueError("wrong")


async def never() -> None:
    await asyncio.Event().wait()
