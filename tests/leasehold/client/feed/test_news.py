from __future__ import annotations

from datetime import UTC, datetime

import pytest

from leasehold.client.feed import news as module
from leasehold.client.feed.news import Found, News, ScheduleNews, differences
from leasehold.database import Caller, Database
from tests.support.sql_jobs import enqueue
from tests.support.sql_waits import open_transaction
from tests.support.sql_worker import SqlWorker


async def write(caller: Caller, job_id: int, *messages: str) -> None:
    number = len(messages)
    ats = [datetime.now(UTC)] * number
    await caller.call("write_job_logs", [job_id] * number, [1] * number, ats, ["info"] * number, list(messages))


def said(found: Found) -> list[tuple[int, str]]:
    return [(line.job_id, line.message) for line in found.lines]


async def test_lines_of_a_job_are_told_from_its_beginning_and_then_once(database: Database) -> None:
    async with database.reserve("news") as connection:
        news = News(connection)
        await write(database, 1, "a")
        await write(database, 2, "x")
        assert said(await news.read({1})) == [(1, "a")]
        assert said(await news.read({1})) == []
        await write(database, 1, "b")
        assert sorted(said(await news.read({1, 2}))) == [(1, "b"), (2, "x")]
        await write(database, 1, "c")
        await write(database, 2, "y")
        assert said(await news.read({1, 2})) == [(1, "c"), (2, "y")]
        assert said(await news.read(set())) == []
        assert said(await news.read({1})) == [(1, "a"), (1, "b"), (1, "c")]


async def test_a_line_that_commits_late_is_told_all_the_same(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "NEW_LINES_FOR", 3600.0)  # late is less than that on a busy machine, too
    async with database.reserve("news") as connection:
        news = News(connection)
        await news.read({1})
        async with open_transaction(database, "slow") as slow:
            await write(slow, 1, "late")
            await write(database, 1, "early")
            assert said(await news.read({1})) == [(1, "early")]
            assert said(await news.read({1})) == []
            await slow.execute("commit")
        assert said(await news.read({1})) == [(1, "late")]


async def test_more_lines_than_a_page_come_with_the_next_looks(database: Database) -> None:
    async with database.reserve("news") as connection:
        news = News(connection)
        await news.read({1})
        await write(database, 1, *(str(number) for number in range(module.PAGE - 1)))
        first = await news.read({1})
        assert len(first.lines) == module.PAGE - 1
        await news.read({1, 2})
        await write(database, 2, *(str(number) for number in range(990)))
        found = [*(await news.read({1, 2})).lines, *(await news.read({1, 2})).lines, *(await news.read({1, 2})).lines]
        assert len({line.number for line in found if line.job_id == 2}) == 990
        assert len(found) == len({line.number for line in found})


async def test_progress_is_told_when_it_differs(database: Database) -> None:
    worker = SqlWorker(database)
    job_id = await enqueue(database)
    await worker.claim(1)
    async with database.reserve("news") as connection:
        news = News(connection)
        assert (await news.read({job_id})).is_empty
        await database.call("report_progress", worker.incarnation, [job_id], [1], [0.5], ["half"])
        [advance] = (await news.read({job_id})).advances
        assert (advance.fraction, advance.message) == (0.5, "half")
        assert (await news.read({job_id})).is_empty


async def test_schedules_are_compared_with_what_was_seen(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SCHEDULES_SECONDS", 3600.0)
    async with database.reserve("news") as connection:
        news = News(connection)
        await database.call("create_schedule", '{"name": "s", "kind": "k", "every": 60}')
        assert (await news.read(set())).is_empty
        await database.call("update_schedule", "s", '{"priority": 2}')
        assert (await news.read(set())).is_empty, "it looks from time to time"
        monkeypatch.setattr(module, "SCHEDULES_SECONDS", 0.0)
        assert (await news.read(set())).schedules == (ScheduleNews(event="schedule_changed", schedule="s"),)


def test_what_became_of_schedules_is_told_by_name() -> None:
    before = {1: ("a", "1", "x"), 2: ("b", "1", "x"), 3: ("c", "1", "x"), 5: ("e", "1", "x")}
    now = {1: ("a", "2", "y"), 2: ("b", "1", "y"), 4: ("d", "1", "x"), 5: ("e", "1", "x")}
    assert [(each.event, each.schedule) for each in differences(before, now)] == [
        ("schedule_changed", "a"),
        ("schedule_ticked", "b"),
        ("schedule_created", "d"),
        ("schedule_deleted", "c"),
    ]
