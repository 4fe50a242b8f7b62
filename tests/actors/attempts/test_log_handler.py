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

from leasehold import App, Attempt, CallNext, Job
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


@pytest.mark.parametrize("runs", ["trio", "asyncio", "thread"])
async def test_lines_from_handlers_of_every_flavour_and_what_they_start_name_the_job(
    database_url: str, stream: io.StringIO, runs: Any
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

    app.kind("work", runs=runs)({"trio": on_trio, "asyncio": on_asyncio, "thread": in_a_thread}[runs])
    async with working(database_url, app) as running:
        job = await running.run("work", queue="mail")
    expected = {"job_id": job.id, "kind": "work", "attempt": 1, "queue": "mail", "worker_id": "w1"}
    assert [job_fields(line) for line in lines(stream)] == [expected] * 2


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


async def test_the_worker_tells_its_start_each_claim_and_each_completion(
    database_url: str, stream: io.StringIO
) -> None:
    app = App()

    @app.kind()
    async def work() -> None: ...

    async with working(database_url, app, queues=("mail",)) as running:
        job = await running.run("work", queue="mail")
    told = [line["message"] for line in map(msgspec.json.decode, stream.getvalue().splitlines())]
    assert any(re.fullmatch(r"starting worker w1 \([a-z]+-[a-z]+\) for role mail with 3 slots", line) for line in told)
    assert f"claimed job {job.id} of kind work for mail (attempt 1)" in told
    assert any(re.match(rf"completed job {job.id} of kind work in \d+\.\d+ s", line) for line in told)
    assert "worker w1 stopped" in told


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
