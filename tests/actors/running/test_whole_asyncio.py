"""Handlers have asyncio as a program without leasehold has it, and leave nothing of it behind."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from leasehold.app import App
from tests.support.working import working


async def test_an_asyncio_handler_uses_executors_programs_and_streams_of_its_own(database_url: str) -> None:
    app = App(runs="asyncio")

    @app.kind()
    async def work() -> list[Any]:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as own:
            added = await loop.run_in_executor(own, sum, [1, 2])
        default = await loop.run_in_executor(None, sum, [3, 4])
        program = await asyncio.create_subprocess_exec("/bin/echo", "said", stdout=asyncio.subprocess.PIPE)
        said, _ = await program.communicate()
        task: Any = asyncio.current_task()
        seen = [len(task.get_stack()) > 0, task.get_coro().cr_running]
        return [added, default, await asyncio.to_thread(sum, [5, 6]), said.decode(), *seen]

    async with working(database_url, app) as running:
        job = await running.run("work", max_attempts=1)
        assert (job.state, job.output) == ("completed", [3, 7, 11, "said\n", True, True])


async def test_a_handler_in_a_thread_runs_asyncio_of_its_own(database_url: str) -> None:
    app = App(runs="thread")

    @app.kind()
    def run() -> list[str]:
        async def name() -> str:
            return type(asyncio.get_running_loop()).__name__

        made = asyncio.new_event_loop()
        try:
            return [asyncio.run(name()), made.run_until_complete(name())]
        finally:
            made.close()

    async with working(database_url, app) as running:
        job = await running.run("run", max_attempts=1)
        assert (job.state, job.output) == ("completed", ["_UnixSelectorEventLoop"] * 2)


async def test_a_loop_that_a_handler_leaves_in_its_thread_is_not_that_of_the_next_job(database_url: str) -> None:
    app, made = App(runs="thread"), list[asyncio.AbstractEventLoop]()

    @app.kind()
    def leave() -> None:
        made.append(asyncio.new_event_loop())
        asyncio.set_event_loop(made[-1])

    @app.kind()
    def find() -> bool:
        try:
            return asyncio.get_event_loop() in made
        except RuntimeError:
            return False

    async with working(database_url, app, slots=1) as running:
        await running.run("leave")
        assert (await running.run("find")).output is False
    made[0].close()
