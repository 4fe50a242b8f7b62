from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from leasehold.checks.upkeep import check_upkeep, judge_upkeep
from leasehold.database import Database, open_database
from tests.support.sql_jobs import enqueue


@asynccontextmanager
async def connected_as(database_url: str, name: str) -> AsyncGenerator[None]:
    async with open_database(database_url, application_name=name) as session:
        await session.fetch("select 1")
        yield


async def test_processes_are_known_by_the_names_of_their_sessions(database: Database, database_url: str) -> None:
    async with (
        connected_as(database_url, "leasehold scheduler+reaper 7"),
        connected_as(database_url, "leasehold reaper 8 janitor"),
        connected_as(database_url, "leasehold reaper 8 reaper"),
        connected_as(database_url, "leasehold worker 9"),
    ):
        check = await check_upkeep(database)
    assert (check.verdict, check.detail) == ("ok", "connected: 1 schedulers, 2 reapers")


async def test_without_a_scheduler_what_is_scheduled_is_a_problem(database: Database, database_url: str) -> None:
    async with connected_as(database_url, "leasehold reaper 8"):
        assert (await check_upkeep(database)).verdict == "advice"
        await enqueue(database, delay=timedelta(minutes=1))
        check = await check_upkeep(database)
    assert (check.verdict, check.advice) == ("problem", "start one: leasehold run scheduler")


@pytest.mark.parametrize(
    ("schedulers", "reapers", "verdict"), [(1, 0, "advice"), (0, 1, "advice"), (0, 0, "advice"), (2, 3, "ok")]
)
def test_a_missing_reaper_is_felt_after_days(schedulers: int, reapers: int, verdict: str) -> None:
    assert judge_upkeep(schedulers, reapers, is_anything_scheduled=False).verdict == verdict
