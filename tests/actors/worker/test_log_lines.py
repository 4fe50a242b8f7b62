"""What a worker logs names the worker in every line, and the job wherever it is about one."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Generator

import pytest
import trio

from leasehold.actors.worker import backpressure
from leasehold.app import App
from leasehold.jobs.endings import RetryPolicy
from leasehold.jobs.job import Job
from leasehold.observability.logs import JobFilter
from tests.support.machines import FakeResources
from tests.support.waiting import until
from tests.support.working import working

handlers_log = logging.getLogger("shop.handlers")


class Lines(logging.Handler):
    """Keeps records as `install_logging`'s handler would get them."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.addFilter(JobFilter())
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def saying(self, text: str) -> list[logging.LogRecord]:
        return [record for record in self.records if text in record.getMessage()]

    def has(self, text: str) -> Callable[[], bool]:
        return lambda: bool(self.saying(text))


@pytest.fixture
def lines() -> Generator[Lines]:
    lines, loggers = Lines(), [logging.getLogger("leasehold.actors"), handlers_log]
    levels = [each.level for each in loggers]
    for each in loggers:
        each.addHandler(lines)
        each.setLevel(logging.DEBUG)
    yield lines
    for each, level in zip(loggers, levels, strict=True):
        each.removeHandler(lines)
        each.setLevel(level)


def app_of(may_end: trio.Event) -> App:
    app = App()

    @app.kind(retry=RetryPolicy(initial=0, cap=0), max_attempts=2)
    async def fragile() -> None:
        raise ValueError("no")

    @app.kind
    async def slow(job: Job) -> None:
        handlers_log.info("half way")
        await may_end.wait()

    return app


async def test_every_line_of_a_worker_names_it_and_its_job(
    database_url: str, lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backpressure, "LOOK_SECONDS", 0.05)
    resources, may_end = FakeResources(), trio.Event()
    async with working(
        database_url, app_of(may_end), worker_id="w7", read=resources.read, memory_backoff=0.85, backoff_seconds=0.05
    ) as running:
        await running.run("fragile", max_attempts=2)
        slow = await running.client.enqueue("slow")
        await until(lines.has("renewed 1 leases"))
        cancelled = await running.client.enqueue("slow")
        await until(lambda: len(lines.saying("half way")) == 2)
        await running.client.cancel(cancelled)
        await until(lines.has(f"job {cancelled} attempt 1: lease lost (cancelled)"))
        resources.memory = 0.9
        await until(lines.has("backing off: memory 90 %"))
        resources.memory = 0.5
        await until(lines.has("resuming after"))
        await running.client.workers.command("w7", "pause")
        await until(lines.has("told to pause"))
        may_end.set()
        await running.finished(slow)
    said = ("starting worker w7", "claimed job", "now pending", "failed for good", "completed job", "worker w7 stopped")
    assert [text for text in said if not lines.saying(text)] == []
    told = [record for record in lines.records if record.name != "leasehold.actors.supervise"]
    assert {getattr(record, "worker_id", None) for record in told} == {"w7"}
    for record in told:
        if named := re.search(r"\bjob (\d+)", record.getMessage()):
            about = {getattr(record, "job_id", None), *getattr(record, "job_ids", ())}
            assert int(named[1]) in about, record.getMessage()
    for record in lines.saying("renewed"):
        assert set(record.__dict__["job_ids"]) <= {slow, cancelled}
    assert {getattr(record, "job_id", None) for record in lines.saying("half way")} == {slow, cancelled}
