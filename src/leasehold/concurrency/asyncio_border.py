"""From trio to asyncio and back: trio steps asyncio's own loop, in the same thread.

A loop of asyncio waits for nothing but its selector, and a selector of the kernel (epoll, kqueue) is a descriptor that trio can
wait for. So one system task of trio, the *driver*, sleeps until that is readable or until asyncio's next timer, and then runs
one step of the loop. A crossing makes a task and runs its first step on the spot: a statement is on its way before trio turns
to anybody else. docs/decisions/0070 has the reasons and the figures.
"""

from __future__ import annotations

import asyncio
import logging
import math
import selectors
import signal
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import Context, ContextVar
from threading import get_ident
from types import FrameType, MappingProxyType
from typing import Any, TypeVar, cast

import outcome
import sniffio
import trio

from leasehold.concurrency.shared_loop import give_trio_back, shared, take_trio_away
from leasehold.errors import ClientClosed, DatabaseUnavailable

THREADS = 40
"""Of `asyncio.to_thread` and the like at once; trio has as many by default."""

log = logging.getLogger(__name__)

T = TypeVar("T")

MOST_STEPS = 16
"""In a row, before the others under trio have their turn."""
END_SECONDS = 2.0
"""For tasks that are cancelled at the end of their loop."""
LAST_STEPS = 100


class SteppedLoop(asyncio.SelectorEventLoop):
    """A loop that never waits. `step` runs what is ready; between steps somebody else waits for `descriptor` and `deadline`.

    Its clock is trio's. It leaves `signal.set_wakeup_fd` alone, which trio and the ending of our processes need.

    Attributes:
        descriptor: becomes readable when a socket of the loop is ready, another thread has called, or something has become ready
            or a timer was made outside of a step and of `begin`.
    """

    def __init__(self) -> None:
        self._clock = trio.lowlevel.current_clock()
        self._is_stepping = False
        self._most = 1
        self._handlers_before: dict[int, Any] = {}
        poller = selectors.DefaultSelector()
        # Those of select and poll have none: there is no stepping on Windows.
        self.descriptor = cast("selectors.EpollSelector", poller).fileno()
        super().__init__(poller)
        self._handles: deque[asyncio.Handle] = vars(self)["_ready"]
        self.set_default_executor(ThreadPoolExecutor(THREADS, "asyncio"))

    def time(self) -> float:
        """Now, by trio's clock: time limits of either side pass alike, also under the virtual clocks of tests."""
        return self._clock.current_time()

    @property
    def has_more(self) -> bool:
        """Whether something is ready. The descriptor does not show what another thread has added during a step that emptied
        the pipe by which it tells us."""
        return bool(self._handles)

    @property
    def deadline(self) -> float:
        """When the next timer is due, by `time`; infinity where there is none."""
        timers = cast("list[asyncio.TimerHandle]", vars(self)["_scheduled"])
        return timers[0].when() if timers else math.inf

    def begin(self, work: Any) -> asyncio.Task[Any]:
        """A task for a coroutine, which has run until it waits for something. There may be more to do, and a new deadline."""
        self._is_stepping = True  # nobody has to be roused for the step that follows
        try:
            task = self.create_task(work)
        finally:
            self._is_stepping = False
        self.step(2)  # many have nothing to wait for but one turn of the loop
        return task

    @trio.lowlevel.enable_ki_protection
    def step(self, most: int) -> None:
        """Run what is ready, and what that makes ready, in `most` rounds at most, without waiting for anything.

        Ctrl-C is put off until trio can deliver it.
        """
        self._is_stepping = True
        self._most = most
        task = take_trio_away()
        library, sniffio.thread_local.name = sniffio.thread_local.name, "asyncio"
        try:
            super().stop()  # before `run_forever` it means: `_run_once`, without waiting, and return
            self.run_forever()
        except (KeyboardInterrupt, SystemExit) as error:
            self.call_exception_handler({"message": "a callback wanted to end the program", "exception": error})
        finally:
            sniffio.thread_local.name = library
            give_trio_back(task)
            self._is_stepping = False

    def _run_once(self) -> None:
        """What `run_forever` does again and again: here several of asyncio's rounds, as long as one makes work for the next."""
        run_round = cast("Any", super())._run_once
        for _ in range(self._most):
            run_round()
            if not self._handles:
                break

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """As asyncio's; also from code under trio, and from finalizers, which may run in any thread and between any two lines."""
        handle = super().call_soon(callback, *args, context=context)
        if not self._is_stepping:
            cast("Any", self)._write_to_self()
        return handle

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """As asyncio's; from wherever `call_soon` may be called."""
        handle = super().call_at(when, callback, *args, context=context)
        if not self._is_stepping:
            cast("Any", self)._write_to_self()
        return handle

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """As asyncio's. Where somebody has shut down the executor that all share, a new one takes its place."""
        try:
            return super().run_in_executor(executor, func, *args)
        except RuntimeError as error:
            if executor is not None or "after shutdown" not in str(error):
                raise
            self.set_default_executor(ThreadPoolExecutor(THREADS, "asyncio"))
            return super().run_in_executor(None, func, *args)

    def add_signal_handler(self, sig: int, callback: Callable[..., object], *args: Any) -> None:
        """As asyncio's."""

        def received(_number: int, _frame: FrameType | None) -> None:
            self.call_soon_threadsafe(callback, *args)

        before = signal.signal(sig, received)
        self._handlers_before.setdefault(sig, before)

    def remove_signal_handler(self, sig: int) -> bool:
        """As asyncio's; what handled the signal before does so again."""
        if sig not in self._handlers_before:
            return False
        signal.signal(sig, self._handlers_before.pop(sig))
        return True

    def close(self) -> None:
        """As asyncio's."""
        for each in tuple(self._handlers_before):
            self.remove_signal_handler(each)
        super().close()


class Driven:
    """A loop and its driver. Made under trio, and used in its thread only.

    Attributes:
        ended: set when the driver has ended, for whatever reason; no step follows.
    """

    def __init__(self) -> None:
        self._thread = get_ident()
        self._sleep: trio.CancelScope | None = None
        self._is_leaving = self._is_over = False
        self._waiting: dict[asyncio.Task[Any], trio.lowlevel.Task] = {}
        self.ended = trio.Event()
        self.loop = SteppedLoop()

    @property
    def is_here(self) -> bool:
        """Whether the caller is in the thread of the loop."""
        return get_ident() == self._thread

    @property
    def is_usable(self) -> bool:
        """Whether the caller may cross over: not from another thread, which may have inherited our context."""
        return self.is_here and not self._is_leaving and not self.ended.is_set()

    async def drive(self) -> None:
        """Step the loop until it is left or trio ends; who still waits is told. A system task: what it raises ends the program."""
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._listen)
                while not self._is_over:
                    self.loop.step(MOST_STEPS)
                    await self._wait()
                nursery.cancel_scope.cancel()
        finally:
            self.ended.set()
            while self._waiting:
                trio.lowlevel.reschedule(self._waiting.popitem()[1], outcome.Error(asyncio.CancelledError()))

    async def leave(self) -> None:
        """End the tasks that are left, the driver, and the loop."""
        self._is_leaving = True
        try:
            self.loop.step(LAST_STEPS)  # what was to be done soon is done, and not cancelled
            if not await self._has_ended_tasks() and not await self._has_ended_tasks():
                log.error("a task that was cancelled at the end of its loop cancels all others again and again")
            self.loop.step(LAST_STEPS)
        finally:
            self._is_over = True
            self._rouse()
            await self.ended.wait()
            self.loop.close()

    async def _has_ended_tasks(self) -> bool:
        """False where one of them, as it ended, has cancelled what waits for their ends."""
        try:
            await self._cross(_end_tasks)
        except ClientClosed:
            return self.ended.is_set()  # with the program: what waits for nothing is done all the same
        return True

    async def cross(self, function: Callable[..., Awaitable[T]], /, *args: Any, **named: Any) -> T:
        """Run an asyncio function in a task of this loop, in a copy of the caller's context. A checkpoint.

        Cancelling cancels the asyncio task and waits for its end. Nothing is begun where the caller is cancelled already.

        Raises:
            ClientClosed: the loop is over, or runs in another thread.
        """
        if not self.is_usable:
            raise ClientClosed
        return await self._cross(function, args, named)

    async def ask(self, function: Callable[..., Awaitable[T]], /, *args: Any, **named: Any) -> T:
        """As `cross`, for what asks the database. A handler under asyncio may cancel all tasks of the loop, ours among them.

        Raises:
            DatabaseUnavailable: somebody under asyncio has cancelled it. Nobody knows what it has done.
        """
        try:
            return await self.cross(function, *args, **named)
        except asyncio.CancelledError as error:
            raise DatabaseUnavailable(
                "code that runs under asyncio has cancelled a task that is not its own"
            ) from error

    async def finish(self, function: Callable[..., Awaitable[object]], /, *args: Any, **named: Any) -> None:
        """As `ask`, for what answers nothing and cannot be cancelled."""
        with trio.CancelScope(shield=True):
            await self.ask(function, *args, **named)

    @trio.lowlevel.enable_ki_protection
    async def _cross(
        self,
        function: Callable[..., Awaitable[T]],
        args: tuple[Any, ...] = (),
        named: Mapping[str, Any] = MappingProxyType({}),
    ) -> T:
        await trio.lowlevel.checkpoint_if_cancelled()
        task: asyncio.Task[T] = self.loop.begin(_await(function, args, named))
        self._keep_time()
        if task.done():
            await trio.lowlevel.cancel_shielded_checkpoint()
            return task.result()
        return await self._wait_for(task)

    async def _wait_for(self, task: asyncio.Task[T]) -> T:
        if self.ended.is_set():
            raise ClientClosed
        cancelling: Callable[[], object] | None = None

        def cancel(raise_cancel: Callable[[], object]) -> trio.lowlevel.Abort:
            nonlocal cancelling
            cancelling = raise_cancel
            task.cancel()
            return trio.lowlevel.Abort.FAILED

        self._waiting[task] = trio.lowlevel.current_task()
        task.add_done_callback(self._resume)
        try:
            return await trio.lowlevel.wait_task_rescheduled(cancel)
        except asyncio.CancelledError as error:
            if cancelling is None and (self._is_leaving or self.ended.is_set()):
                raise ClientClosed from error
            if cancelling is None:
                raise
            try:
                cancelling()
            except BaseException as raised:
                raise raised from error
            raise

    def _resume(self, task: asyncio.Task[Any]) -> None:
        waiter = self._waiting.pop(task, None)
        if waiter is not None:  # else the driver has told it
            trio.lowlevel.reschedule(waiter, outcome.capture(task.result))

    @trio.lowlevel.enable_ki_protection
    async def _listen(self) -> None:
        while True:
            await trio.lowlevel.wait_readable(self.loop.descriptor)
            self.loop.step(MOST_STEPS)
            self._keep_time()

    async def _wait(self) -> None:
        """Until the next timer is due. Its deadline is not put off, so a timer for each statement costs nothing here."""
        with trio.CancelScope() as sleep:
            self._sleep = sleep
            self._keep_time()
            await trio.sleep_forever()

    def _keep_time(self) -> None:
        """After a step: have the driver look at what is left, or wake up earlier."""
        if self.loop.has_more:
            self._rouse()
        elif self._sleep is not None and self.loop.deadline < self._sleep.deadline:
            self._sleep.deadline = self.loop.deadline

    def _rouse(self) -> None:
        """Have the driver look again."""
        if self._sleep is not None:
            self._sleep.cancel()


_current: ContextVar[Driven | None] = ContextVar("leasehold_asyncio_loop", default=None)


def current_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that the calling trio task crosses over to: the innermost open one around it, in this very thread."""
    driven = _current.get()
    return driven.loop if driven is not None and driven.is_usable else None


@asynccontextmanager
async def open_loop() -> AsyncGenerator[None]:
    """A loop for the block and for the trio tasks that are started in it. What the block raises comes out as it is.

    Errors that nobody caught, there, are logged and end nothing. At the end, tasks that still run are cancelled.
    """
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


def crossing() -> Driven:
    """What the calling trio task crosses over by: the innermost open loop around it. Raises ClientClosed where there is none."""
    driven = _current.get()
    if driven is None:
        raise ClientClosed
    return driven


async def cross(function: Callable[..., Awaitable[T]], /, *args: Any, **named: Any) -> T:
    """Run an asyncio function on the current loop: see `Driven.cross`. Raises ClientClosed where there is none any more."""
    return await crossing().cross(function, *args, **named)


async def loop_ended() -> None:
    """Wait until the current loop has ended: nothing that crosses over will ever come back."""
    driven = _current.get()
    if driven is not None:
        await driven.ended.wait()


async def _await(function: Callable[..., Awaitable[T]], args: tuple[Any, ...], named: Mapping[str, Any]) -> T:
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
