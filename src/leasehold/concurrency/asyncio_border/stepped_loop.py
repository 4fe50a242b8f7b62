"""asyncio's own loop, moved on one step at a time by whoever holds it."""

from __future__ import annotations

import asyncio
import math
import selectors
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from types import FrameType
from typing import Any, cast

import sniffio
import trio

from leasehold.concurrency.shared_loop import give_trio_back, take_trio_away

THREADS = 40
"""Of `asyncio.to_thread` and the like at once; trio has as many by default."""


class SteppedLoop(asyncio.SelectorEventLoop):
    """A loop that never waits. `step` runs what is ready; between steps somebody else waits for `descriptor` and `deadline`.

    Its clock is trio's. It leaves `signal.set_wakeup_fd` alone, which trio and the ending of our processes need.

    Args:
        rouse: called when something has become ready, or a timer was made, outside of a step and of `begin`.

    Attributes:
        descriptor: becomes readable when a socket of the loop is ready, or another thread has called.
    """

    def __init__(self, rouse: Callable[[], object]) -> None:
        self._rouse = rouse
        self._clock = trio.lowlevel.current_clock()
        self._is_stepping = False
        self._handlers_before: dict[int, Any] = {}
        poller = selectors.DefaultSelector()
        # Those of select and poll have none: there is no stepping on Windows.
        self.descriptor = cast("selectors.EpollSelector", poller).fileno()
        super().__init__(poller)
        self.set_default_executor(ThreadPoolExecutor(THREADS, "asyncio"))

    def time(self) -> float:
        """Now, by trio's clock: time limits of either side pass alike, also under the virtual clocks of tests."""
        return self._clock.current_time()

    @property
    def has_more(self) -> bool:
        """Whether something is ready. The descriptor does not show what another thread has added during a step that emptied
        the pipe by which it tells us."""
        return bool(vars(self)["_ready"])

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
        self.step()
        if self.has_more:
            self.step()  # many have nothing to wait for but one turn of the loop
        return task

    @trio.lowlevel.enable_ki_protection
    def step(self) -> None:
        """Run what is ready now, once, without waiting for anything. Ctrl-C is put off until trio can deliver it."""
        self._is_stepping = True
        task = take_trio_away()
        library, sniffio.thread_local.name = sniffio.thread_local.name, "asyncio"
        try:
            super().stop()  # before `run_forever` it means: look at the sockets, run what is ready, and return
            self.run_forever()
        except (KeyboardInterrupt, SystemExit) as error:
            self.call_exception_handler({"message": "a callback wanted to end the program", "exception": error})
        finally:
            sniffio.thread_local.name = library
            give_trio_back(task)
            self._is_stepping = False

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """As asyncio's; also from code under trio, and from finalizers."""
        handle = super().call_soon(callback, *args, context=context)
        if not self._is_stepping:
            self._rouse()
        return handle

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """As asyncio's; also from code under trio, and from finalizers."""
        handle = super().call_at(when, callback, *args, context=context)
        if not self._is_stepping:
            self._rouse()
        return handle

    def add_signal_handler(self, sig: int, callback: Callable[..., object], *args: Any) -> None:
        """As asyncio's."""

        def heard(_number: int, _frame: FrameType | None) -> None:
            self.call_soon_threadsafe(callback, *args)

        before = signal.signal(sig, heard)
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
