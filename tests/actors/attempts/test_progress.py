"""Progress and logs of real handlers in a real worker."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import trio

from leasehold import App, Job
from leasehold.actors.attempts import progress as writer_module
from leasehold.actors.attempts.progress import ProgressBuffer, ProgressWriter
from leasehold.actors.identity import WorkerIdentity
from leasehold.database import Caller, Database, Row, open_database
from leasehold.errors import BadInput, DatabaseUnavailable, QueryRefused
from leasehold.jobs.endings import Retry
from tests.support.waiting import eventually, until
from tests.support.working import Working, working

log = logging.getLogger("tests.handlers")


class Recorder(Caller):
    """Notes the calls; raises what `errors` holds for them, one after the other."""

    def __init__(self, *errors: Exception | None) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.errors = list(errors)

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        await trio.lowlevel.checkpoint()
        error = self.errors.pop(0) if self.errors else None
        if error is not None:
            raise error
        self.calls.append((sql.split(".")[1].split("(", maxsplit=1)[0], args))
        return []

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.calls]


def a_writer(caller: Caller) -> tuple[ProgressWriter, ProgressBuffer]:
    buffer = ProgressBuffer()
    return ProgressWriter(caller, WorkerIdentity("w1"), buffer, lambda _job_id: None), buffer


async def test_all_jobs_go_into_one_statement_of_each_sort() -> None:
    recorder = Recorder()
    scribe, buffer = a_writer(recorder)
    for job_id in (3, 1, 2):
        buffer.progress(job_id, 1, job_id / 10, "at\x00work")
        buffer.line(job_id, 1, "info", "x")
    await scribe.write()
    assert recorder.names == ["report_progress", "write_job_logs"]
    assert recorder.calls[0][1][1:] == ([1, 2, 3], [1, 1, 1], [0.1, 0.2, 0.3], ["at\ufffdwork"] * 3)
    assert recorder.calls[1][1][0] == [3, 1, 2]
    await scribe.write()
    assert len(recorder.calls) == 2
    assert buffer.is_empty


async def test_it_writes_twice_a_second_at_the_most_and_at_once_when_a_job_has_ended(
    autojump_clock: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "monotonic", trio.current_time)
    recorder = Recorder()
    scribe, buffer = a_writer(recorder)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(scribe.run)
        for number in range(20):
            buffer.progress(1, 1, number / 20)
            await trio.sleep(0.01)
        assert len(recorder.calls) == 1
        buffer.progress(1, 1, 1.0)
        scribe.hurry()
        await trio.sleep(0.01)
        assert [args[3] for _, args in recorder.calls][-1] == [1.0]
        assert len(recorder.calls) == 2
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("function", ["progress", "lines"])
async def test_what_postgres_refuses_is_given_up_and_spoils_nothing(
    function: str, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = Recorder(QueryRefused("no"))
    scribe, buffer = a_writer(recorder)
    if function == "progress":
        buffer.progress(1, 1, 0.5)
    else:
        buffer.line(1, 1, "info", "x")
    await scribe.write()
    assert buffer.is_empty
    assert "refused: no" in caplog.text


async def test_while_the_database_is_away_everything_is_kept() -> None:
    recorder = Recorder(DatabaseUnavailable("gone"), None, DatabaseUnavailable("gone again"))
    scribe, buffer = a_writer(recorder)
    buffer.progress(1, 1, 0.5)
    buffer.line(1, 1, "info", "a")
    with pytest.raises(DatabaseUnavailable):
        await scribe.write()
    buffer.line(1, 1, "info", "b")
    with pytest.raises(DatabaseUnavailable):
        await scribe.write()
    await scribe.write()
    assert recorder.names == ["report_progress", "write_job_logs"]
    assert recorder.calls[1][1][4] == ["a", "b"]
    assert buffer.is_empty


async def test_many_lines_are_written_in_portions() -> None:
    recorder = Recorder()
    scribe, buffer = a_writer(recorder)
    for number in range(5000):
        buffer.line(number, 1, "info", "x")
    await scribe.write()
    assert [len(args[0]) for _, args in recorder.calls] == [2000, 2000, 1000]


async def test_two_writers_write_each_line_once() -> None:
    recorder = Recorder()
    scribe, buffer = a_writer(recorder)
    for number in range(3000):
        buffer.line(number, 1, "info", str(number))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(scribe.write)
        nursery.start_soon(scribe.write)
    assert [message for _, args in recorder.calls for message in args[4]] == [str(n) for n in range(3000)]


def make_app() -> App:
    app = App()

    @app.kind("trio")
    async def in_trio(job: Job) -> str:
        job.progress(0.25, "parsing")
        job.log("begun")
        await trio.lowlevel.checkpoint()
        job.progress(1.0, "done")
        job.log("ended", "warning")
        return "ok"

    @app.kind("asyncio", runs="asyncio")
    async def in_asyncio(job: Job) -> str:
        job.progress(0.25, "parsing")
        job.log("begun")
        await asyncio.sleep(0)
        job.progress(1.0, "done")
        job.log("ended", "warning")
        return "ok"

    @app.kind("thread")
    def in_a_thread(job: Job) -> str:
        job.progress(0.25, "parsing")
        job.log("begun")
        job.progress(1.0, "done")
        job.log("ended", "warning")
        return "ok"

    @app.kind("completes")
    async def completes(job: Job) -> str:
        job.progress(0.5)
        async with job.complete():
            job.progress(1.0, "done")
        return "ok"

    @app.kind("atomic", mode="atomic")
    async def is_atomic(job: Job) -> str:
        job.progress(1.0, "done")
        return "ok"

    @app.kind()
    async def fails(job: Job) -> None:
        job.progress(0.5, f"attempt {job.attempt}")
        job.log(f"attempt {job.attempt}")
        if job.attempt == 1:
            raise Retry(0)
        raise ValueError("no")

    @app.kind()
    async def holds(job: Job) -> None:
        job.progress(0.5, "holding")
        job.log("holding")
        await trio.sleep_forever()

    @app.kind()
    async def babbles(job: Job) -> None:
        for number in range(1500):
            job.log(str(number))

    @app.kind()
    async def misspeaks(job: Job) -> None:
        job.log("x", "loud")  # pyright: ignore[reportArgumentType]

    @app.kind(keep_logs="info")
    async def logs(name: str) -> None:
        log.debug("too little for %s", name)
        log.info("working for %s", name)
        logging.getLogger("leasehold.worker").warning("ours")
        await trio.to_thread.run_sync(log.error, "in a thread")
        try:
            float("postgres://u:secret@h/d")
        except ValueError:
            log.exception("broke")

    @app.kind()
    async def logs_elsewhere(name: str) -> None:
        log.error("not kept for %s", name)

    return app


@pytest.fixture
async def running(database_url: str) -> AsyncGenerator[Working]:
    async with working(database_url, make_app()) as running:
        yield running


async def progress(running: Working, job_id: int) -> tuple[object, ...] | None:
    rows = await running.database.call("get_job_progress", job_id)
    return tuple(rows[0])[:3] if rows else None


async def logged(running: Working, job_id: int, count: int) -> list[tuple[int, str, str]]:
    """So many lines, once they are there."""

    async def probe() -> list[Row] | None:
        rows = await running.database.call("get_job_logs", job_id)
        return rows if len(rows) >= count else None

    return [(row["attempt"], row["level"], row["message"]) for row in await eventually(probe)]


async def test_every_kind_of_handler_may_speak_and_the_last_word_is_there_when_the_job_has_ended(
    running: Working,
) -> None:
    for kind in ("trio", "asyncio", "thread"):
        job = await running.run(kind)
        assert job.state == "completed"
        assert await progress(running, job.id) == (1, 1.0, "done")
        assert await logged(running, job.id, 2) == [(1, "info", "begun"), (1, "warning", "ended")]


async def test_the_last_word_goes_into_the_commit_of_a_handler_that_has_one(running: Working) -> None:
    for kind in ("completes", "atomic"):
        job = await running.run(kind)
        assert job.state == "completed"
        assert await progress(running, job.id) == (1, 1.0, "done")


async def test_a_failed_attempt_leaves_its_word_and_its_lines_and_an_unknown_level_fails_one(running: Working) -> None:
    job = await running.run("misspeaks", max_attempts=1)
    assert "level must be one of" in job.error["message"]
    job = await running.run("fails", max_attempts=2)
    assert job.state == "failed"
    assert await progress(running, job.id) == (2, 0.5, "attempt 2")
    assert await logged(running, job.id, 2) == [(1, "info", "attempt 1"), (2, "info", "attempt 2")]


async def test_it_can_be_seen_while_the_handler_runs(running: Working) -> None:
    job_id = await running.client.enqueue("holds")
    assert await logged(running, job_id, 1) == [(1, "info", "holding")]
    assert await progress(running, job_id) == (1, 0.5, "holding")


async def test_what_a_cancelled_job_said_hurts_nobody(running: Working) -> None:
    job_id = await running.client.enqueue("holds")
    await until(
        lambda: job_id in running.worker.parts.holdings and running.worker.parts.holdings[job_id].started is not None
    )
    await running.client.cancel(job_id)
    await until(lambda: job_id not in running.worker.parts.holdings)
    assert (await running.run("trio")).state == "completed"
    assert await logged(running, job_id, 1) == [(1, "info", "holding")]


async def test_a_job_keeps_a_thousand_lines(running: Working) -> None:
    job = await running.run("babbles")
    lines = await logged(running, job.id, 1000)
    assert len(lines) == 1000
    assert lines[-1][2].startswith("more lines follow")


async def test_records_of_logging_are_kept_where_the_kind_wants_it(
    running: Working, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "tests.handlers")
    job = await running.run("logs", {"name": "Ada"})
    lines = await logged(running, job.id, 3)
    assert [(level, message.splitlines()[0]) for _, level, message in lines] == [
        ("info", "working for Ada"),
        ("error", "in a thread"),
        ("error", "broke"),
    ]
    assert "postgres://u:***@h/d" in lines[2][2]
    job = await running.run("logs_elsewhere", {"name": "Ada"})
    assert await running.database.call("get_job_logs", job.id) == []


async def test_what_is_left_is_written_before_the_worker_has_ended(database_url: str) -> None:
    app = App()
    release = trio.Event()

    @app.kind()
    async def waits(job: Job) -> None:
        job.log("waiting")
        await release.wait()
        job.log("released")

    async with working(database_url, app) as running:
        job_id = await running.client.enqueue("waits")
        await logged(running, job_id, 1)
        running.worker.drain()
        release.set()
        await running.stopped()
    async with open_database(database_url) as database:
        assert [row["message"] for row in await database.call("get_job_logs", job_id)] == ["waiting", "released"]


async def test_a_job_without_a_worker_says_so(database: Database) -> None:
    from tests.support.held import held_job

    job = held_job().job("w1")
    with pytest.raises(BadInput, match="no worker at hand"):
        job.progress(0.5)
    with pytest.raises(BadInput, match="no worker at hand"):
        job.log("x")
    assert job.cancel_reason is None
