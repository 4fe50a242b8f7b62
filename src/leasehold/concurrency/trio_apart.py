"""A context manager of trio, held open outside the task that wants it: in a thread for code under asyncio, or in a system task.

And the way back: from that thread to the loop that the code under asyncio runs on.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Generic, Literal, TypeVar

import trio

from leasehold.errors import ClientClosed

T = TypeVar("T")

LOOK_SECONDS = 1.0


@asynccontextmanager
async def open_apart(
    opening: Callable[[], AbstractAsyncContextManager[T]], name: str, *, cancels: bool = True
) -> AsyncGenerator[T]:
    """What `opening` gives, held open under trio in a thread as long as the block lasts.

    If the block ends by an exception, what is held open is cancelled. If that fails meanwhile, the block is cancelled, and the
    failure comes out here as it is.

    Args:
        opening: called in the thread.
        name: of the thread.
        cancels: where what is held open fails, the block is cancelled; else the failure comes out at its end, and the block may
            end in another task than it began.
    """
    apart = _Apart(opening, cancels=cancels)
    threading.Thread(target=apart.run, name=name, daemon=True).start()
    try:
        yield await apart.begin()
    except BaseException as error:
        await apart.leave("interrupt")
        if isinstance(error, asyncio.CancelledError):
            apart.raise_failure_that_cancelled()
        raise
    await apart.leave("end")
    apart.ended.result()


@asynccontextmanager
async def open_beside(opening: Callable[[], AbstractAsyncContextManager[T]]) -> AsyncGenerator[T]:
    """What `opening` gives, held open in a system task of trio, so that the block may end in another task than it began.

    If the block ends by an exception, or trio ends first, what is held open is cancelled. If that fails, the failure comes out at
    the end of the block.
    """
    opened, leaving, ended, scope = trio.Event(), trio.Event(), trio.Event(), trio.CancelScope()
    values: list[T] = []
    failures: list[Exception] = []

    async def stay() -> None:
        try:
            with scope:
                async with opening() as value:
                    values.append(value)
                    opened.set()
                    await leaving.wait()
        except Exception as error:
            failures.append(error)
        finally:
            opened.set()
            ended.set()

    trio.lowlevel.spawn_system_task(stay)
    try:
        await opened.wait()
        if values:
            yield values[0]
        leaving.set()
        await ended.wait()
    except BaseException:
        scope.cancel()
        with trio.CancelScope(shield=True):
            await ended.wait()
        raise
    if failures:
        raise failures[0]


async def across(loop: asyncio.AbstractEventLoop, function: Callable[..., Awaitable[T]], *args: Any) -> T:
    """Run an asyncio function in a task of a loop that another thread runs, in a copy of the caller's context. A checkpoint.

    Cancelling cancels the task and waits for its end.

    Raises:
        ClientClosed: the loop is closed, or has cancelled the task.
    """
    ended, token = trio.Event(), trio.lowlevel.current_trio_token()
    tasks: list[asyncio.Task[T]] = []

    def end(_task: object) -> None:
        with suppress(trio.RunFinishedError):
            token.run_sync_soon(ended.set)

    def begin() -> None:
        tasks.append(loop.create_task(_await(function, args)))
        tasks[0].add_done_callback(end)

    def cancel() -> None:
        tasks[0].cancel()

    _ask_loop(loop, begin)
    try:
        await _until(ended, loop)
    except trio.Cancelled:
        with trio.CancelScope(shield=True), suppress(ClientClosed):
            _ask_loop(loop, cancel)
            await _until(ended, loop)
        raise
    if tasks[0].cancelled():
        raise ClientClosed
    return tasks[0].result()


async def _await(function: Callable[..., Awaitable[T]], args: tuple[Any, ...]) -> T:
    return await function(*args)


def _ask_loop(loop: asyncio.AbstractEventLoop, function: Callable[[], object]) -> None:
    try:
        loop.call_soon_threadsafe(function)
    except RuntimeError as error:
        raise ClientClosed from error


async def _until(ended: trio.Event, loop: asyncio.AbstractEventLoop) -> None:
    """A loop that is closed tells nobody: so look whether it is."""
    while not ended.is_set():
        with trio.move_on_after(LOOK_SECONDS):
            await ended.wait()
        if loop.is_closed() and not ended.is_set():
            raise ClientClosed


class _Apart(Generic[T]):
    """Both sides. What trio's thread says goes to the loop of asyncio, and the other way round.

    Attributes:
        ended: done when the thread ends, with what failed there.
    """

    def __init__(self, opening: Callable[[], AbstractAsyncContextManager[T]], *, cancels: bool) -> None:
        self._opening = opening
        self._cancels = cancels
        self._loop = asyncio.get_running_loop()
        self._opened: asyncio.Future[T] = self._loop.create_future()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self._block: asyncio.Task[object] | None = None
        self._has_cancelled = False
        self._wish: Literal["end", "interrupt"] | None = None
        self._token: trio.lowlevel.TrioToken | None = None
        self._scope = trio.CancelScope()
        self._leaving = trio.Event()

    async def begin(self) -> T:
        """The value, once it is open. Raises why it cannot be opened."""
        await asyncio.wait([self._opened, self.ended], return_when=asyncio.FIRST_COMPLETED)
        if not self._opened.done():
            self.ended.result()
        self._block = asyncio.current_task() if self._cancels else None
        return self._opened.result()

    async def leave(self, wish: Literal["end", "interrupt"]) -> None:
        """Have it end, and wait until the thread has ended; whoever cancels that interrupts it."""
        self._block = None
        self._ask(wish)
        was_cancelled = False
        while not self.ended.done():
            try:
                await asyncio.wait([self.ended])
            except asyncio.CancelledError:
                was_cancelled = True
                self._ask("interrupt")
        if was_cancelled:
            raise asyncio.CancelledError

    def raise_failure_that_cancelled(self) -> None:
        """Raise what failed in the thread, if it was that which cancelled the block, and nobody else."""
        task = asyncio.current_task()
        if self._has_cancelled and task is not None and task.uncancel() == 0:
            self.ended.result()

    def run(self) -> None:
        """In the thread."""
        failure: BaseException | None = None
        try:
            trio.run(self._stay_open)
        except BaseException as error:
            failure = error
        self._call_there(self._end, failure)

    async def _stay_open(self) -> None:
        with self._scope:
            self._token = trio.lowlevel.current_trio_token()
            self._obey()  # a wish may have come before there was a token
            async with self._opening() as value:
                self._call_there(self._opened.set_result, value)
                await self._leaving.wait()

    def _ask(self, wish: Literal["end", "interrupt"]) -> None:
        self._wish = wish
        if self._token is not None:
            with suppress(trio.RunFinishedError):
                self._token.run_sync_soon(self._obey)

    def _obey(self) -> None:
        if self._wish == "end":
            self._leaving.set()
        elif self._wish == "interrupt":
            self._scope.cancel()

    def _call_there(self, function: Callable[..., object], value: object) -> None:
        with suppress(RuntimeError):  # the loop of asyncio is closed: nobody waits
            self._loop.call_soon_threadsafe(function, value)

    def _end(self, failure: BaseException | None) -> None:
        if failure is None:
            self.ended.set_result(None)
            return
        self.ended.set_exception(failure)
        self.ended.exception()  # whoever left already has been told something else
        if self._block is not None:
            self._has_cancelled = self._block.cancel()
