"""Calling a handler in the flavour it was written for."""

from __future__ import annotations

from functools import partial
from typing import Any

import trio

from leasehold.database.border import run_asyncio
from leasehold.kind import Kind


async def invoke(
    kind: Kind[..., Any], args: tuple[Any, ...], named: dict[str, Any], threads: trio.CapacityLimiter
) -> Any:
    """The handler's return value. A thread is cancelled where it calls `leasehold.checkpoint()`, and waited for."""
    match kind.runs:
        case "trio":
            return await kind.function(*args, **named)
        case "asyncio":
            return await run_asyncio(partial(kind.function, *args, **named))
        case "thread":
            return await trio.to_thread.run_sync(partial(kind.function, *args, **named), limiter=threads)
