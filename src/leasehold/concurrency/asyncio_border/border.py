"""What a border to asyncio offers to trio programs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol, TypeVar

T = TypeVar("T")

BorderName = Literal["trio-asyncio", "stepped"]


class Border(Protocol):
    """One way across. All of its functions are called under trio."""

    name: BorderName

    def current_loop(self) -> asyncio.AbstractEventLoop | None:
        """The loop that the calling trio task crosses over to: the innermost open one around it, in this very thread."""
        ...

    def open_loop(self) -> AbstractAsyncContextManager[None]:
        """A loop for the block and for the trio tasks that are started in it. What the block raises comes out as it is.

        Errors that nobody caught, there, are logged and end nothing. At the end, tasks that still run are cancelled.
        """
        ...

    async def cross(self, function: Callable[..., Awaitable[T]], /, *args: Any, **named: Any) -> T:
        """Run an asyncio function in a task of the current loop, in a copy of the caller's context. A checkpoint.

        Cancelling cancels the asyncio task and waits for its end. Nothing is begun where the caller is cancelled already.

        Raises:
            ClientClosed: there is no loop, or no longer one.
        """
        ...

    async def loop_ended(self) -> None:
        """Wait until the current loop has ended: nothing that crosses over will ever come back."""
        ...
