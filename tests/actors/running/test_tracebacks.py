"""What is kept of an error begins where the user's code does, whichever way a handler runs."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import trio

from leasehold import App, Attempt, CallNext
from tests.support.working import Working, working

FRAME = re.compile(r'^[ |]+File "(.+)", line \d+, in (\w+)$', re.MULTILINE)


def fail() -> None:
    raise ValueError("no")


async def under_trio() -> None:
    await trio.lowlevel.checkpoint()
    fail()


async def in_a_nursery() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(under_trio)


async def under_asyncio() -> None:
    await asyncio.sleep(0)
    fail()


async def in_a_task_group() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(under_asyncio())


def in_a_thread() -> None:
    fail()


async def kept_frames(running: Working, kind: str, **args: Any) -> list[tuple[str, str]]:
    """File and function of each frame that is kept of the one attempt at a job, outermost first."""
    job = await running.run(kind, args, max_attempts=1)
    assert job.error is not None
    return FRAME.findall(job.error["traceback"])


async def test_a_traceback_begins_with_the_handler_or_its_middleware_but_where_the_error_is_ours(
    database_url: str,
) -> None:
    handlers: list[tuple[Any, Any]] = [
        ("trio", under_trio),
        ("trio", in_a_nursery),
        ("asyncio", under_asyncio),
        ("asyncio", in_a_task_group),
        ("thread", in_a_thread),
    ]

    async def around(attempt: Attempt, call_next: CallNext) -> Any:
        return await call_next()

    app = App()
    for runs, handler in handlers:
        app.kind(handler.__name__, runs=runs)(handler)
    app.kind("behind a middleware", middlewares=[around])(under_trio)
    app.kind("not called", check_args=False)(under_trio)
    async with working(database_url, app) as running:
        for _, handler in handlers:
            first, *_, last = await kept_frames(running, handler.__name__)
            assert (first, last) == ((__file__, handler.__name__), (__file__, "fail"))
        first, *_, last = await kept_frames(running, "behind a middleware")
        assert (first, last) == ((__file__, "around"), (__file__, "fail"))
        frames = await kept_frames(running, "not called", surplus=1)
        assert {"slot.py", "kind.py"} <= {Path(file).name for file, _ in frames}
