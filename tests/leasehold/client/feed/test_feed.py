from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import pytest

from leasehold.client.feed import feed as feeds
from leasehold.client.feed.changes import Change, instant_of, microseconds_of
from leasehold.client.feed.feed import Feed, replay
from leasehold.database import Caller, Database, ReservedConnection, Row
from leasehold.errors import DatabaseUnavailable
from tests.support.sql_jobs import enqueue, pile_up
from tests.support.sql_waits import freeze, open_transaction
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import eventually

ENDS = {"job_completed", "job_failed", "job_cancelled"}


@pytest.fixture(autouse=True)
def audits_only_when_the_test_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look makes one by itself where the last one was long ago, as on a busy machine."""
    monkeypatch.setattr(feeds, "AUDIT_SECONDS", 3600.0)


def words(changes: list[Change]) -> list[tuple[str, int | None]]:
    return [(change.event, change.job_id) for change in changes]


def ends(changes: list[Change]) -> list[int | None]:
    return [change.job_id for change in changes if change.event in ENDS]


@asynccontextmanager
async def begun(database: Database) -> AsyncGenerator[Feed]:
    """A feed after its first look."""
    async with database.reserve("feed") as connection:
        feed = Feed(connection)
        assert await feed.read() == []
        yield feed


async def audited(feed: Feed, caller: Caller) -> list[Change]:
    """What an audit at this moment finds."""
    (horizon,) = await caller.call("get_horizon", True)
    await feed.audit(horizon)
    return feed.take()


class Failing(Caller):
    """Calls over another, but for one function, which fails once."""

    def __init__(self, caller: Caller, function: str) -> None:
        self._caller = caller
        self.function: str | None = function

    async def fetch(self, sql: str, *args: object, timeout: float | None = None) -> list[Row]:
        if self.function is not None and f"leasehold.{self.function}(" in sql:
            self.function = None
            raise DatabaseUnavailable("away")
        return await self._caller.fetch(sql, *args, timeout=timeout)


async def run_one(caller: Caller) -> None:
    worker = SqlWorker(caller)
    await enqueue(caller)
    await worker.complete(await worker.claim())


async def test_a_feed_tells_what_happens_after_its_first_look_once(database: Database) -> None:
    await run_one(database)
    async with begun(database) as feed:
        worker = SqlWorker(database)
        await enqueue(database)
        assert words(await feed.read()) == [("job_created", 2)]
        jobs = await worker.claim()
        await worker.start(jobs)
        assert words(await feed.read()) == [("job_claimed", 2), ("job_started", 2)]
        await worker.fail(jobs, retry_in=[0.0])
        assert words(await feed.read()) == [("job_retried", 2)]
        await worker.complete(await worker.claim())
        (change,) = await feed.read()
        assert (change.event, change.attempt, change.queue, change.worker_id) == ("job_completed", 2, "default", "w1")
        assert await feed.read() == []


async def test_workers_that_come_and_go_are_told(database: Database) -> None:
    async with begun(database) as feed:
        worker = SqlWorker(database)
        await worker.register()
        assert [change.event for change in await feed.read()] == ["worker_started"]
        await database.call("stop_worker", worker.incarnation)
        assert [change.event for change in await feed.read()] == ["worker_stopped"]


async def test_a_crowd_is_told_a_page_at_a_time_and_whole(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "PAGE", 7)
    async with begun(database) as feed:
        worker = SqlWorker(database)
        await pile_up(database, 40)
        await worker.complete(await worker.claim(40))
        told = ends(await feed.read())
        assert len(told) == 7
        assert feed.is_behind
        while feed.is_behind:
            told += ends(await feed.read())
    assert sorted(map(int, filter(None, told))) == list(range(1, 41))


async def test_what_commits_soon_after_later_things_is_told_by_the_next_look(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "OVERLAP", timedelta(hours=1))  # soon is what a busy machine takes for it
    await pile_up(database, 2)
    async with begun(database) as feed, open_transaction(database, "slow") as connection:
        slow, quick = SqlWorker(connection), SqlWorker(database)
        await slow.complete(await slow.claim(1))
        await quick.complete(await quick.claim(1))
        assert ends(await feed.read()) == [2]
        await connection.execute("commit")
        assert ends(await feed.read()) == [1]
        assert ends(await feed.read()) == []


def same(at: datetime) -> datetime:
    return at


async def commit_long_after(feed: Feed, connection: ReservedConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Job 1 completes in an open transaction; the feed goes past that moment; then it is committed."""
    monkeypatch.setattr(feeds, "OVERLAP", timedelta(0))
    worker = SqlWorker(connection)
    await worker.complete(await worker.claim(1))
    assert ends(await feed.read()) == []
    assert ends(await audited(feed, connection)) == []
    await connection.execute("commit")
    assert ends(await feed.read()) == []


async def test_what_commits_long_after_its_time_is_found_by_an_audit(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "_second", same)  # the present second is looked at as well
    await enqueue(database)
    async with begun(database) as feed, open_transaction(database, "slow") as connection:
        await commit_long_after(feed, connection, monkeypatch)
        assert ends(await audited(feed, database)) == [1]
        assert ends(await audited(feed, database)) == []


async def test_the_cursor_stays_before_what_an_open_transaction_may_still_commit(database: Database) -> None:
    await enqueue(database)
    async with open_transaction(database, "slow") as connection:
        worker = SqlWorker(connection)
        await worker.complete(await worker.claim(1))
        (row,) = await connection.call("list_changes", datetime.fromisoformat("2020-01-01T00:00:00Z"))
        async with begun(database) as feed:
            await audited(feed, database)
            await feed.read()
            assert feed.cursor < microseconds_of(row["at"])
            await connection.execute("commit")
            assert ends([each async for page in replay(database, instant_of(feed.cursor)) for each in page]) == [1]

            async def has_passed() -> bool:
                await audited(feed, database)
                await feed.read()
                return feed.cursor > microseconds_of(row["at"])

            await eventually(has_passed)  # autovacuum may have a transaction open as well


async def test_an_audit_that_the_database_cuts_short_is_made_up_for(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "_second", same)
    await enqueue(database)
    caller = Failing(database, "nothing")
    feed = Feed(caller)
    await feed.read()
    async with open_transaction(database, "slow") as connection:
        await commit_long_after(feed, connection, monkeypatch)
    caller.function = "count_changes"
    with pytest.raises(DatabaseUnavailable):
        await audited(feed, database)
    assert ends(await audited(feed, database)) == [1]


@pytest.mark.parametrize("minutes", [0, 1, 2])
async def test_what_happened_before_the_first_look_is_never_told(database: Database, minutes: int) -> None:
    async with database.reserve("clocked") as connection:
        (row,) = await connection.fetch(f"select now() - interval '{minutes} min 15 s' as at")
        await freeze(connection, row["at"].isoformat())
        await run_one(connection)
    async with begun(database) as feed:
        assert await audited(feed, database) == []
        assert await feed.read() == []


@pytest.mark.parametrize("function", ["get_horizon", "list_changes", "list_arrivals"])
async def test_a_look_that_the_database_cuts_short_loses_nothing(database: Database, function: str) -> None:
    caller = Failing(database, "nothing")
    feed = Feed(caller)
    await feed.read()
    await run_one(database)
    caller.function = function
    with pytest.raises(DatabaseUnavailable):
        await feed.read()
    assert ends(await feed.read()) == [1]
    assert ends(await feed.read()) == []


async def test_skipping_goes_on_from_now(database: Database) -> None:
    async with begun(database) as feed:
        await run_one(database)
        await feed.skip()
        assert ends(await feed.read()) == []
        await run_one(database)
        assert ends(await feed.read()) == [2]


async def test_a_replay_tells_everything_between_two_moments_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "PAGE", 4)
    (before,) = await database.call("get_horizon")
    await pile_up(database, 10)
    worker = SqlWorker(database)
    await worker.complete(await worker.claim(10))
    await run_one(database)
    (after,) = await database.call("get_horizon")
    await run_one(database)
    pages = [page async for page in replay(database, before["at"], after["at"])]
    assert [job_id for page in pages for job_id in ends(page)] == list(range(1, 12))
    assert len(pages) > 2


async def test_a_feed_goes_on_where_the_clock_was_set_back(database: Database) -> None:
    async with database.reserve("feed") as connection:
        feed = Feed(connection)
        await freeze(connection, "2026-03-01 13:00Z")
        await feed.read()
        await freeze(connection, "2026-03-01 12:00Z")
        await feed.read()
        job_id = await enqueue(connection)
        worker = SqlWorker(connection)
        await worker.complete(await worker.claim())
        assert ends(await feed.read()) == [job_id]
