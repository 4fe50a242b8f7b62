"""The border without a library: trio steps asyncio's own loop, in the same thread.

A loop of asyncio waits for nothing but its selector, and a selector of the kernel (epoll, kqueue) is a descriptor that trio can
wait for. So one system task of trio, the *driver*, sleeps until that is readable or until asyncio's next timer, and then runs
one step of the loop. A crossing makes a task and runs its first step on the spot: a statement is on its way before trio turns
to anybody else.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from threading import get_ident
from typing import Any, TypeVar

import outcome
import trio

from leasehold.concurrency.asyncio_border.border import BorderName
from leasehold.concurrency.asyncio_border.stepped_loop import SteppedLoop
from leasehold.concurrency.shared_loop import shared
from leasehold.errors import ClientClosed

log = logging.getLogger(__name__)

T = TypeVar("T")

MOST_STEPS = 16
"""In a row, before the others under trio have their turn."""
END_SECONDS = 2.0
"""For tasks that are cancelled at the end of their loop."""
LAST_STEPS = 100


class Driven:
    """A loop and its driver. Made under trio, and used in its thread only.

    Attributes:
        ended: set when the driver has ended, for whatever reason; no step follows.
    """

    def __init__(self) -> None:
        self._thread = get_ident()
        self._sleep: trio.CancelScope | None = None
        self._is_leaving = self._is_over = False
        self.ended = trio.Event()
        self.loop = SteppedLoop(self._rouse)

    @property
    def is_usable(self) -> bool:
        """Whether the caller may cross over: not from another thread, which may have inherited our context."""
        return get_ident() == self._thread and not self._is_leaving and not self.ended.is_set()

    async def drive(self) -> None:
        """Step the loop until it is left. A system task, so what it raises ends the program."""
        try:
            while not self._is_over:
                self._step_until_idle(MOST_STEPS)
                if self.loop.has_more:
                    await trio.lowlevel.cancel_shielded_checkpoint()
                else:
                    await self._wait()
        finally:
            self.ended.set()

    async def leave(self) -> None:
        """End the tasks that are left, the driver, and the loop."""
        self._is_leaving = True
        try:
            self._step_until_idle(LAST_STEPS)  # what was to be done soon is done, and not cancelled
            await self.cross(_end_tasks)
            self._step_until_idle(LAST_STEPS)
        finally:
            self._is_over = True
            self._rouse()
            await self.ended.wait()
            self.loop.close()

    @trio.lowlevel.enable_ki_protection
    async def cross(self, function: Callable[..., Awaitable[T]], *args: Any, **named: Any) -> T:
        """As `Border.cross`."""
        await trio.lowlevel.checkpoint_if_cancelled()
        task: asyncio.Task[T] = self.loop.begin(_await(function, args, named))
        if self.loop.has_more:
            self._rouse()
        elif self._sleep is not None and self.loop.deadline < self._sleep.deadline:
            self._sleep.deadline = self.loop.deadline
        if task.done():
            await trio.lowlevel.cancel_shielded_checkpoint()
            return task.result()
        return await self._wait_for(task)

    async def _wait_for(self, task: asyncio.Task[T]) -> T:
        waiter = trio.lowlevel.current_task()
        cancelling: Callable[[], object] | None = None

        def resume(done: asyncio.Task[T]) -> None:
            trio.lowlevel.reschedule(waiter, outcome.capture(done.result))

        def cancel(raise_cancel: Callable[[], object]) -> trio.lowlevel.Abort:
            nonlocal cancelling
            cancelling = raise_cancel
            if self.ended.is_set():  # nobody would ever come back
                task.remove_done_callback(resume)
                return trio.lowlevel.Abort.SUCCEEDED
            task.cancel()
            return trio.lowlevel.Abort.FAILED

        task.add_done_callback(resume)
        try:
            return await trio.lowlevel.wait_task_rescheduled(cancel)
        except asyncio.CancelledError as error:
            if cancelling is None and self._is_leaving:
                raise ClientClosed from error
            if cancelling is None:
                raise
            try:
                cancelling()
            except BaseException as raised:
                raise raised from error
            raise

    def _step_until_idle(self, most: int) -> None:
        for _ in range(most):
            self.loop.step()
            if not self.loop.has_more:
                break

    async def _wait(self) -> None:
        with trio.CancelScope() as sleep:
            self._sleep = (
                sleep  # from here on `_rouse` ends the wait, also where a finalizer calls it between two lines
            )
            sleep.deadline = self.loop.deadline
            if self.loop.has_more:
                return
            await trio.lowlevel.wait_readable(self.loop.descriptor)

    def _rouse(self) -> None:
        """Have the driver look again."""
        if self._sleep is not None:
            self._sleep.cancel()


class SteppedBorder:
    """See `Border`."""

    name: BorderName = "stepped"

    def current_loop(self) -> asyncio.AbstractEventLoop | None:
        """As `Border.current_loop`."""
        driven = _current.get()
        return driven.loop if driven is not None and driven.is_usable else None

    @asynccontextmanager
    async def open_loop(self) -> AsyncGenerator[None]:
        """As `Border.open_loop`."""
        outer, driven = _current.get(), Driven()
        trio.lowlevel.spawn_system_task(driven.drive, name="leasehold asyncio loop")
        _current.set(driven)
        try:
            with shared(driven.loop):
                yield
        finally:
            _current.set(outer)
            with trio.CancelScope(shield=True):
                await driven.leave()

    async def cross(self, function: Callable[..., Awaitable[T]], /, *args: Any, **named: Any) -> T:
        """As `Border.cross`."""
        driven = _current.get()
        if driven is None or not driven.is_usable:
            raise ClientClosed
        return await driven.cross(function, *args, **named)

    async def loop_ended(self) -> None:
        """As `Border.loop_ended`."""
        driven = _current.get()
        if driven is not None:
            await driven.ended.wait()


_current: ContextVar[Driven | None] = ContextVar("leasehold_asyncio_loop", default=None)


async def _await(function: Callable[..., Awaitable[T]], args: tuple[Any, ...], named: dict[str, Any]) -> T:
    """Some functions want a running loop already when they are called."""
    return await function(*args, **named)


async def _end_tasks() -> None:
    """As `asyncio.run` does at its end, but not for ever."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    left = (await asyncio.wait(others, timeout=END_SECONDS))[1] if others else ()
    for task in left:
        log.error("%s goes on although it was cancelled; its loop ends without it", task.get_name())
    await asyncio.get_running_loop().shutdown_asyncgens()
