"""Handlers have asyncio as a program without leasehold has it, and leave nothing of it behind."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from leasehold.app import App
from tests.support.waiting import PATIENCE
from tests.support.working import working

ROOT = Path(__file__).parents[3]


@pytest.mark.acceptance
def test_what_programs_do_with_asyncio_gives_in_a_handler_what_it_gives_under_asyncio_run(database_url: str) -> None:
    command = [sys.executable, "-m", "tests.support.uses", database_url]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT, timeout=4 * PATIENCE)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["differing"] == {}
    assert len(said["answers"]) == 87


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
