"""What an app opens when a worker starts and closes when it stops, with real workers."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
import trio

import leasehold
from leasehold import Job
from leasehold.actors.identity import WorkerMode
from leasehold.actors.worker import hooks
from leasehold.actors.worker.hooks import started
from leasehold.errors import ActorFailed, DatabaseUnavailable
from leasehold.jobs.job_host import Context
from tests.support.waiting import PATIENCE
from tests.support.working import unhurried


class Pool:
    """Opened once for all handlers of a worker."""

    def __init__(self, loop: object) -> None:
        self.loop, self.used = loop, list[int]()


class Notes(list[str]):
    """What happened, in order."""


async def test_all_handlers_of_a_worker_share_what_is_opened_once_and_closed_at_its_end(database_url: str) -> None:
    app, notes = leasehold.App(runs="asyncio"), Notes()

    @app.on_start
    async def open_pool(state: Context) -> None:
        notes.append("opened")
        state[Pool] = Pool(asyncio.get_running_loop())

    @app.on_stop
    async def close_pool(state: Context) -> None:
        notes.append(f"closed after {sorted(state[Pool].used)}")

    @app.kind
    async def use(job: Job) -> bool:
        job.state[Pool].used.append(job.id)
        return job.state[Pool].loop is asyncio.get_running_loop()

    @app.kind
    def use_in_a_thread(job: Job) -> None:
        job.state[Pool].used.append(job.id)

    with unhurried():
        async with leasehold.worker(app, database_url), leasehold.open_client(database_url, app=app) as client:
            first = await client.enqueue(use.new())
            second = await client.enqueue(use_in_a_thread.new())
            assert await client.wait(first) is True
            await client.wait(second)
    assert notes == ["opened", f"closed after {[first, second]}"]


async def test_each_runs_as_it_says_in_order_and_the_last_one_is_stopped_first() -> None:
    app, notes = leasehold.App(), Notes()

    def note(word: str) -> Any:
        async def under_trio(_state: Context) -> None:
            await trio.lowlevel.checkpoint()
            notes.append(word)

        def in_a_thread(_state: Context) -> None:
            notes.append(f"{word} {threading.current_thread() is not threading.main_thread()}")

        return in_a_thread if word.startswith("in a thread") else under_trio

    for word in ("one", "in a thread"):
        app.on_start(note(word))
        app.on_stop(note(word))
    async with started(app, Context()):
        notes.append("works")
    assert notes == ["one", "in a thread True", "works", "in a thread True", "one"]


async def test_a_start_that_fails_ends_the_worker_says_why_and_stops_what_was_started(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    app, notes = leasehold.App(), Notes()
    app.kind(name="quick")(lambda: None)

    @app.on_start
    async def connect(_state: Context) -> None:
        raise ValueError("no such host")

    @app.on_stop
    async def disconnect(state: Context) -> None:
        notes.append(str(state.get(Pool)))
        raise KeyError("not here")

    @app.on_stop
    def last_registered_first(_state: Context) -> None:
        notes.append("first")

    with (
        unhurried(),
        pytest.raises(ActorFailed, match=r"on_start function .*connect failed: ValueError\('no such host'\)"),
    ):
        async with leasehold.worker(app, database_url):
            raise AssertionError("it has not started")
    assert notes == ["first", "None"]
    assert "disconnect failed" in caplog.text


async def test_a_start_that_misses_our_database_is_tried_again_as_a_worker_is() -> None:
    app = leasehold.App()

    @app.on_start
    async def count(_state: Context) -> None:
        raise DatabaseUnavailable("not yet")

    with pytest.raises(DatabaseUnavailable):
        async with started(app, Context()):
            raise AssertionError("it has not started")


async def test_who_is_told_to_drain_waits_for_no_start() -> None:
    app, mode = leasehold.App(), WorkerMode(1)

    @app.on_start
    async def waits_for_somebody(_state: Context) -> None:
        mode.drain()
        await trio.sleep_forever()

    async with started(app, Context(), mode):
        assert mode.is_draining


async def test_nor_for_one_in_a_thread() -> None:
    app, mode, loaded = leasehold.App(runs="thread"), WorkerMode(1), threading.Event()

    @app.on_start
    def loads_for_long(_state: Context) -> None:
        trio.from_thread.run_sync(mode.drain)
        assert loaded.wait(PATIENCE)

    async with started(app, Context(), mode):
        assert mode.is_draining
    loaded.set()


async def test_a_stop_that_does_not_end_is_given_up(autojump_clock: object, caplog: pytest.LogCaptureFixture) -> None:
    app, notes = leasehold.App(), Notes()

    @app.on_stop
    async def hangs(_state: Context) -> None:
        await trio.sleep_forever()

    async with started(app, Context()):
        notes.append("works")
    assert f"given up after {hooks.STOP_SECONDS:g} s" in caplog.text
