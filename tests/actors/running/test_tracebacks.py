"""What is kept of an error begins where the user's code does, whichever way a handler runs."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
import trio

from leasehold import App, Attempt, CallNext
from tests.support.working import working

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


async def kept_frames(database_url: str, app: App, kind: str, **args: Any) -> list[tuple[str, str]]:
    """File and function of each frame that is kept of the one attempt at a job, outermost first."""
    async with working(database_url, app) as running:
        job = await running.run(kind, args, max_attempts=1)
    assert job.error is not None
    return FRAME.findall(job.error["traceback"])


@pytest.mark.parametrize(
    ("runs", "handler"),
    [
        ("trio", under_trio),
        ("trio", in_a_nursery),
        ("asyncio", under_asyncio),
        ("asyncio", in_a_task_group),
        ("thread", in_a_thread),
    ],
)
async def test_a_traceback_begins_with_the_handler(database_url: str, runs: Any, handler: Any) -> None:
    app = App()
    app.kind("breaks", runs=runs)(handler)
    first, *_, last = await kept_frames(database_url, app, "breaks")
    assert (first, last) == ((__file__, handler.__name__), (__file__, "fail"))


async def test_a_middleware_is_the_users_as_well(database_url: str) -> None:
    app = App()

    @app.middleware
    async def around(attempt: Attempt, call_next: CallNext) -> Any:
        return await call_next()

    app.kind("breaks")(under_trio)
    first, *_, last = await kept_frames(database_url, app, "breaks")
    assert (first, last) == ((__file__, "around"), (__file__, "fail"))


async def test_an_error_of_our_own_keeps_its_frames(database_url: str) -> None:
    app = App()
    app.kind("breaks", check_args=False)(under_trio)
    frames = await kept_frames(database_url, app, "breaks", surplus=1)
    assert {"slot.py", "kind.py"} <= {Path(file).name for file, _ in frames}
