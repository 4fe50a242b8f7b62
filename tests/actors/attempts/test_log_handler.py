"""Every line that a handler logs says which job it belongs to."""

from __future__ import annotations

import asyncio
import io
import logging
import re
from collections.abc import Generator
from typing import Any

import msgspec
import pytest
import trio

from leasehold import App, Attempt, CallNext, ContinueWith, Job, Reschedule, WaitFor
from leasehold.observability.logs import JobFilter, install_logging, uninstall_logging
from tests.support.working import working

log = logging.getLogger("shop.mail")


@pytest.fixture
def stream() -> Generator[io.StringIO]:
    level = logging.getLogger().level
    stream = io.StringIO()
    install_logging("info", "json", stream=stream)
    yield stream
    uninstall_logging()
    logging.getLogger().setLevel(level)


def lines(stream: io.StringIO, logger: str = "shop.mail") -> list[dict[str, Any]]:
    every = [msgspec.json.decode(line, type=dict[str, Any]) for line in stream.getvalue().splitlines()]
    return [line for line in every if line["logger"] == logger]


def job_fields(line: dict[str, Any]) -> dict[str, Any]:
    return {name: line.get(name) for name in ("job_id", "kind", "attempt", "queue", "worker_id")}


async def test_lines_from_handlers_of_every_flavour_and_what_they_start_name_the_job(
    database_url: str, stream: io.StringIO
) -> None:
    app = App()

    def say(text: str) -> None:
        log.info(text)

    async def on_trio() -> None:
        say("here")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.to_thread.run_sync, say, "in a thread of mine")

    async def on_asyncio() -> None:
        say("here")
        await asyncio.create_task(asyncio.to_thread(say, "in a thread of mine"))

    def in_a_thread() -> None:
        say("here")
        trio.from_thread.run_sync(say, "back on the loop")

    app.kind("trio")(on_trio)
    app.kind("asyncio", runs="asyncio")(on_asyncio)
    app.kind("thread")(in_a_thread)
    expected: list[dict[str, Any]] = []
    async with working(database_url, app) as running:
        for runs in ("trio", "asyncio", "thread"):
            job = await running.run(runs, queue="mail")
            expected += [{"job_id": job.id, "kind": runs, "attempt": 1, "queue": "mail", "worker_id": "w1"}] * 2
    assert [job_fields(line) for line in lines(stream)] == expected


async def test_jobs_that_run_at_the_same_time_are_not_mixed_up(database_url: str, stream: io.StringIO) -> None:
    app = App()
    together = [0]
    everybody = trio.Event()

    @app.kind()
    async def work(job: Job) -> None:
        log.info("before %d", job.id)
        together[0] += 1
        if together[0] == 3:
            everybody.set()
        await everybody.wait()
        log.info("after %d", job.id)

    async with working(database_url, app, slots=3) as running:
        ids = [await running.client.enqueue("work") for _ in range(3)]
        for job_id in ids:
            await running.finished(job_id)
    assert len(lines(stream)) == 6
    assert all(line["message"].endswith(f" {line['job_id']}") for line in lines(stream))


async def test_middlewares_log_under_their_job_and_nothing_of_it_is_left_afterwards(
    database_url: str, stream: io.StringIO
) -> None:
    app = App()

    @app.middleware
    async def telling(attempt: Attempt, call_next: CallNext) -> Any:
        log.info("around")
        return await call_next()

    @app.kind()
    async def work() -> None: ...

    async with working(database_url, app, slots=1) as running:
        job = await running.run("work")
        log.info("elsewhere")
    around, elsewhere = lines(stream)
    assert around["job_id"] == job.id
    assert "job_id" not in elsewhere


def about_jobs(stream: io.StringIO) -> dict[int, list[str]]:
    """What the lines say that name a job, by its id."""
    told: dict[int, list[str]] = {}
    for line in map(msgspec.json.decode, stream.getvalue().splitlines()):
        if "job_id" in line:
            told.setdefault(line["job_id"], []).append(re.sub(r"\d+\.\d+ s", "… s", line["message"]))
    return told


def ending_app() -> App:
    """A kind for each way in which an attempt ends."""
    app = App()

    @app.kind()
    async def work() -> None: ...

    @app.kind()
    async def fails() -> None:
        raise ValueError("no")

    @app.kind()
    async def again(job: Job) -> None:
        if job.attempt == 1:
            raise Reschedule(after=0)

    @app.kind()
    async def goes_on() -> ContinueWith:
        return ContinueWith(work.new())

    @app.kind(mode="atomic")
    async def at_once() -> None: ...

    @app.kind()
    async def waits(job: Job) -> None:
        if job.attempt == 1:
            raise WaitFor([work.new()])

    return app


async def test_at_the_default_level_an_attempt_is_one_line(database_url: str, stream: io.StringIO) -> None:
    async with working(database_url, ending_app()) as running:
        jobs = {
            kind: (await running.run(kind, max_attempts=1 if kind == "fails" else 3)).id
            for kind in ("work", "fails", "again", "goes_on", "at_once", "waits")
        }
    told = {kind: about_jobs(stream)[job] for kind, job in jobs.items()}
    assert {kind: [line.split(" job ")[0] for line in lines] for kind, lines in told.items() if kind != "fails"} == {
        "work": ["completed"],
        "again": ["rescheduled", "completed"],
        "goes_on": ["completed"],
        "at_once": ["completed"],
        "waits": ["blocked", "completed"],
    }
    (failure,) = told["fails"]
    assert failure.startswith(f"job {jobs['fails']} of kind fails failed for good with attempt 1: ValueError: no")


async def test_the_line_of_the_end_names_worker_queue_kind_and_attempt(database_url: str, stream: io.StringIO) -> None:
    async with working(database_url, ending_app(), queues=("mail",)) as running:
        job = await running.run("work", queue="mail")
    every = [msgspec.json.decode(line, type=dict[str, Any]) for line in stream.getvalue().splitlines()]
    (line,) = [each for each in every if each.get("job_id") == job.id]
    assert re.fullmatch(rf"completed job {job.id} of kind work in \d+\.\d+ s", line["message"])
    told = {"job_id": job.id, "kind": "work", "attempt": 1, "queue": "mail", "worker_id": "w1"}
    assert job_fields(line) == told
    said = [each["message"] for each in every]
    assert any(re.fullmatch(r"starting worker w1 \([a-z]+-[a-z]+\) for role mail with 3 slots", each) for each in said)
    assert "worker w1 stopped" in said


async def test_the_filter_serves_a_logging_configuration_of_ones_own(database_url: str) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(job_id)s %(kind)s %(message)s"))
    handler.addFilter(JobFilter(everywhere=True))
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    app = App()

    @app.kind()
    async def work() -> None:
        log.info("inside", extra={"kind": "of my own"})

    try:
        async with working(database_url, app) as running:
            job = await running.run("work")
        log.info("outside")
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)
    assert stream.getvalue().splitlines() == [f"{job.id} of my own inside", "None None outside"]
