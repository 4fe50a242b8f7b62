from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from leasehold.client.feed.changes import Change, Wanted
from leasehold.client.feed.news import Found, JobLine, ScheduleNews
from leasehold.errors import DatabaseUnavailable
from leasehold.gateway.stream import hub
from leasehold.gateway.stream.hub import Hub, Source
from tests.gateway.fakes.running import run
from tests.support.flavours import under_asyncio
from tests.support.waiting import PATIENCE

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


class FakeNews:
    """News that tell what a test puts into `looks`."""

    def __init__(self) -> None:
        self.looks: list[Found | Exception] = []
        self.asked: list[set[int]] = []

    async def read(self, job_ids: Collection[int]) -> Found:
        self.asked.append(set(job_ids))
        look = self.looks.pop(0) if self.looks else Found()
        if isinstance(look, Exception):
            raise look
        return look


class FakeSource:
    """A feed that tells what a test puts into `looks`, and whose hints come from the test."""

    def __init__(self) -> None:
        self.looks: list[list[Change] | Exception] = []
        self.is_behind = False
        self.lag = timedelta(0)
        self.cursor = 0
        self.opened = self.closed = self.reads = self.skips = 0
        self.hear: Callable[[str], object] = print
        self.news = FakeNews()

    @asynccontextmanager
    async def open(
        self, hear: Callable[[str], object], missed: Callable[[], object]
    ) -> AsyncGenerator[tuple[FakeSource, FakeNews]]:
        self.opened += 1
        self.hear = hear
        missed()
        try:
            yield self, self.news
        finally:
            self.closed += 1

    async def read(self) -> list[Change]:
        await asyncio.sleep(0)
        self.reads += 1
        self.cursor += 1
        look = self.looks.pop(0) if self.looks else []
        if isinstance(look, Exception):
            raise look
        return look

    async def skip(self) -> None:
        self.skips += 1
        self.lag = timedelta(0)

    async def replay(self, since: datetime, until: datetime | None) -> AsyncGenerator[list[Change]]:
        yield []


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "SHORTEST_PAUSE", 0.001)
    monkeypatch.setattr(hub, "LONGEST_PAUSE", 0.002)


def change(job_id: int, queue: str) -> Change:
    return Change(event="job_completed", at=NOON, job_id=job_id, attempt=1, queue=queue)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110 - what it looks at has no event
            await asyncio.sleep(0.001)


@under_asyncio
async def test_the_reader_is_there_while_somebody_listens() -> None:
    source = FakeSource()
    hub = Hub(cast("Source", source))
    with hub.listen(Wanted()), hub.listen(Wanted()):
        assert await hub.begun(PATIENCE)
        assert hub.streams == 2
    await until(lambda: source.closed == 1)
    reads = source.reads
    for _ in range(20):
        await asyncio.sleep(0.001)
    assert (source.opened, source.reads) == (1, reads)
    with hub.listen(Wanted()):
        assert await hub.begun(PATIENCE)
    assert source.opened == 2


def test_a_database_that_goes_away_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        source = FakeSource()
        source.looks = [[], DatabaseUnavailable("away"), [change(1, "q")]]
        hub = Hub(cast("Source", source))
        with hub.listen(Wanted()) as box:
            await until(lambda: hub.changes == 1)
            assert b'"job_id":1' in box.take()

    run(main())
    assert "away" in caplog.text


@under_asyncio
async def test_a_wake_up_names_a_queue_even_where_nothing_was_read() -> None:
    source = FakeSource()
    hub = Hub(cast("Source", source))
    with hub.listen(Wanted()) as box:
        await hub.begun(PATIENCE)
        source.hear("wake:crawl")
        source.hear("wake:crawl")
        source.hear("nonsense")
        text = b""
        while not text:
            await box.wait(PATIENCE)
            text = box.take()
        assert b'event: queues\ndata: ["crawl"]' in text


@under_asyncio
async def test_a_reader_that_is_far_behind_goes_on_from_now_and_says_so() -> None:
    source = FakeSource()
    hub = Hub(cast("Source", source))
    with hub.listen(Wanted()) as box:
        await hub.begun(PATIENCE)
        source.lag = timedelta(minutes=1)
        await until(lambda: source.skips == 1)
        await until(lambda: b'event: reset\ndata: {"reason":"behind"}' in box.take())


@under_asyncio
async def test_closing_ends_every_listener_those_to_come_as_well() -> None:
    hub = Hub(cast("Source", FakeSource()))
    with hub.listen(Wanted()) as box:
        hub.close()
        assert box.is_closing
    with hub.listen(Wanted()) as late:
        assert late.is_closing


@under_asyncio
async def test_names_that_somebody_made_up_close_no_stream() -> None:
    source = FakeSource()
    hub = Hub(cast("Source", source))
    with hub.listen(Wanted()) as box:
        await hub.begun(PATIENCE)
        for number in range(5_000):
            source.hear(f"wake:{number}{'x' * 900}")
        source.looks = [[change(1, "crawl")]]
        text = b""
        while b"crawl" not in text:
            await box.wait(PATIENCE)
            text += box.take()
        assert not box.is_overfull


@under_asyncio
async def test_log_lines_come_to_those_who_look_at_the_job_and_schedules_to_those_who_look_at_all() -> None:
    source = FakeSource()
    hub = Hub(cast("Source", source))
    line = JobLine(job_id=1, at=NOON, attempt=1, level="info", message="half", number=7)
    news = ScheduleNews(event="schedule_changed", schedule="nightly")
    with (
        hub.listen(Wanted()) as everything,
        hub.listen(Wanted(job_id=1)) as one,
        hub.listen(Wanted(job_id=2)) as other,
        hub.listen(Wanted(queues=("q",))) as queue,
    ):
        await hub.begun(PATIENCE)
        assert source.news.asked[0] == {1, 2}
        source.news.looks = [DatabaseUnavailable("away"), Found(lines=(line,), schedules=(news,))]
        await until(lambda: not source.news.looks)
        source.looks = [[change(9, "other")]]
        await until(lambda: not source.looks)
        await one.wait(PATIENCE)
        text = one.take()
        assert b"event: logs" in text
        assert b'"number":7' in text
        assert b"nightly" not in text
        assert b'event: schedules\ndata: [{"event":"schedule_changed","schedule":"nightly"}]' in everything.take()
        assert (other.take(), queue.take()) == (b"", b"")
