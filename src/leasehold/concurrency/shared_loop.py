"""One asyncio loop for everybody: what a handler does to it must not end it for the others.

An error that nobody caught (a task that was forgot, a callback that raised) is logged, as asyncio itself would.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from contextvars import Context, copy_context
from typing import Any, cast

import trio

log = logging.getLogger(__name__)

_RUN: Any = cast("Any", trio)._core._run.GLOBAL_RUN_CONTEXT


@contextmanager
def shared(loop: Any) -> Generator[None]:
    """Protect a loop from its users while the block lasts."""
    stop = loop.stop
    loop.set_exception_handler(_report)
    loop.set_task_factory(_make_task)
    loop.stop = loop.set_task_factory = loop.shutdown_default_executor = _refuse
    try:
        yield
    finally:
        loop.stop = stop


def _report(_loop: object, context: dict[str, Any]) -> None:
    error = context.get("exception")
    log.error("%s: %r", context.get("message", "an error that nobody caught"), error, exc_info=error)


def _refuse(*_: object) -> None:
    raise RuntimeError(
        "this asyncio loop belongs to leasehold and runs everything else as well:"
        " it cannot be stopped, nor its executor, and it keeps its task factory"
    )


def _make_task(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> asyncio.Task[Any]:
    context = options.get("context") or copy_context()
    return asyncio.Task(Contained(work, context), loop=loop, **options)


class EndRefused(Exception):
    """Code under asyncio wanted to end the program; `__cause__` is how."""


class Contained(Coroutine[Any, Any, Any]):
    """A coroutine that passes KeyboardInterrupt and SystemExit on as EndRefused: asyncio lets those two through its loop.

    No coroutine around the other, since one that is cancelled before its start would leave the other unawaited.

    Attributes:
        work: the coroutine. context: of its task, which asyncio itself shows from Python 3.12 on.
    """

    def __init__(self, work: Coroutine[Any, Any, Any], context: Context) -> None:
        self.work = work
        self.context = context

    def send(self, value: Any) -> Any:
        """Go on."""
        try:
            return self.work.send(value)
        except (KeyboardInterrupt, SystemExit) as error:
            raise EndRefused(repr(error)) from error

    def throw(self, *error: Any) -> Any:
        """Go on with an exception."""
        try:
            return self.work.throw(*error)
        except (KeyboardInterrupt, SystemExit) as refused:
            raise EndRefused(repr(refused)) from refused

    def close(self) -> None:
        """Give up."""
        self.work.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self.work.__await__()

    def __getattr__(self, name: str) -> Any:
        """What else a coroutine has (`cr_frame`, `cr_running` …): stacks of tasks and anyio ask for it."""
        return getattr(self.work, name)


def take_trio_away() -> Any:
    """From here on there is only asyncio: whoever looks for trio's task finds none. Give back what this returns."""
    task = _RUN.task
    del _RUN.task
    return task


def give_trio_back(task: Any) -> None:
    """The end of what `take_trio_away` began."""
    _RUN.task = task
