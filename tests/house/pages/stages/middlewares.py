"""docs/middlewares.md: a session, and two middlewares."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

from leasehold import Attempt, CallNext, Client

WORKER = True
SHARED = (Any,)
called: list[str] = []


class Session:
    async def charge(self, order: int) -> str:
        return f"order {order} is paid"


@asynccontextmanager
async def open_session(metadata: Mapping[str, Any] | None) -> AsyncGenerator[Session]:
    called.append(f"session of {metadata}")
    yield Session()


async def outermost(attempt: Attempt, call_next: CallNext) -> Any:
    called.append("outermost")
    return await call_next()


async def count_calls(attempt: Attempt, call_next: CallNext) -> Any:
    called.append("count")
    return await call_next()


async def after(page: ModuleType, client: Client) -> None:
    assert await client.wait(await client.enqueue(page.charge.new(7))) == "order 7 is paid"
    assert called == ["outermost", "session of {'by': 'web'}", "count"]
