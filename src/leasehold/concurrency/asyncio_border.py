"""From trio to asyncio and back: an asyncio loop that lives inside a trio program, and which way this process takes.

There are two ways, behind one interface. `over_trio_asyncio` has trio-asyncio do it, and is the only module that knows that
library, which cannot be imported on Python 3.14. `stepped` lets trio step asyncio's own loop. docs/decisions/0070 has the reasons
and the figures.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol, TypeVar, get_args

from leasehold.errors import SettingsError

T = TypeVar("T")

BorderName = Literal["trio-asyncio", "stepped"]
VARIABLE = "LEASEHOLD_ASYNCIO_BORDER"
"""Read by every process that opens a database under trio, also by programs that have no other setting of ours."""
NAMES: tuple[BorderName, ...] = get_args(BorderName)
WITHOUT_TRIO_ASYNCIO = (3, 14)


class Border(Protocol):
    """One way across. All of its functions are called under trio."""

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


def border_name(environ: Mapping[str, str], version: tuple[int, int]) -> BorderName:
    """The one that the environment names, else trio-asyncio, where this Python can import it.

    Raises:
        SettingsError: there is no such border, or not on this Python.
    """
    said = environ.get(VARIABLE)
    if not said:
        return "stepped" if version >= WITHOUT_TRIO_ASYNCIO else "trio-asyncio"
    found: BorderName | None = next((name for name in NAMES if name == said), None)
    if found is None:
        raise SettingsError(f"{VARIABLE} is {said!r}; it takes {' or '.join(NAMES)}")
    if found == "trio-asyncio" and version >= WITHOUT_TRIO_ASYNCIO:
        raise SettingsError(
            f"{VARIABLE} is {said!r}, which cannot be imported on Python 3.14 and later; leave it out or say stepped"
        )
    return found


def chosen_border() -> Border:
    """The border of this process. Raises SettingsError as `border_name`."""
    if border_name(os.environ, sys.version_info[:2]) == "stepped":
        from leasehold.concurrency.stepped import SteppedBorder  # noqa: PLC0415  only the one that is used

        return SteppedBorder()
    from leasehold.concurrency.over_trio_asyncio import TrioAsyncioBorder  # noqa: PLC0415  as above

    return TrioAsyncioBorder()
