"""Durations are seconds, and dates without an offset are in UTC, whatever the session's time zone does that day."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from leasehold.database import Database
from tests.support.sql_jobs import empty
from tests.support.sql_kinds import declare
from tests.support.sql_waits import freeze

DAY = timedelta(seconds=86_400)


async def test_a_day_has_86400_seconds_where_the_clock_of_the_session_changes(
    database: Database, subtests: pytest.Subtests
) -> None:
    for noon in ["2026-03-28 12:00Z", "2026-10-24 12:00Z"]:
        await empty(database)
        with subtests.test(noon=noon):
            now = datetime.fromisoformat(noon.replace("Z", "+00:00"))
            await declare(database, {"kind": "declared", "deadline": 86_400})
            async with database.reserve("in Berlin") as connection:
                await connection.execute("set timezone = 'Europe/Berlin'")
                await freeze(connection, noon)
                jobs = json.dumps(
                    [
                        {"kind": "a", "deadline": "P1D"},
                        {"kind": "declared"},
                        {"kind": "a", "key": "k", "deadline": "P1D"},
                    ]
                )
                await connection.fetch("select leasehold.enqueue_jobs($1::text::jsonb)", jobs)
                await connection.fetch("select leasehold.enqueue_job('declared')")
                await connection.execute("insert into leasehold.jobs (kind) values ('declared')")
                deadlines = await connection.fetch("select deadline from leasehold.jobs order by id")
                await connection.fetch("select leasehold.enqueue_job('later', delay => '1 day')")
                [later] = await connection.fetch("select run_at from leasehold.jobs where kind = 'later'")
                [zone] = await connection.fetch("show timezone")
                await connection.execute("reset timezone")
            assert [row["deadline"] for row in deadlines] == [now + DAY] * 5
            assert later["run_at"] == now + DAY
            assert zone[0] == "Europe/Berlin"


async def test_dates_in_documents_are_in_utc_where_they_say_no_offset(database: Database) -> None:
    async with database.reserve("in Berlin") as connection:
        await connection.execute("set timezone = 'Europe/Berlin'")
        ten, text = datetime(2099, 7, 1, 10, tzinfo=UTC), "2099-07-01 10:00"
        jobs = json.dumps(
            [
                {"kind": "a", "run_at": text, "deadline": text},
                {"kind": "a", "run_at": text, "deadline": text, "unique": {"by": ["kind"]}},
            ]
        )
        await connection.fetch("select leasehold.enqueue_jobs($1::text::jsonb)", jobs)
        rows = await connection.fetch("select run_at, deadline from leasehold.jobs")
        schedule = json.dumps({"name": "s", "kind": "a", "at": text, "ends_at": "2099-07-01 11:00"})
        await connection.fetch("select leasehold.create_schedule($1::text::jsonb)", schedule)
        [made] = await connection.fetch("select at, ends_at from leasehold.schedules")
        await connection.execute("reset timezone")
    assert [tuple(row) for row in rows] == [(ten, ten)] * 2
    assert tuple(made) == (ten, ten + timedelta(hours=1))
