from __future__ import annotations

from datetime import timedelta

import pytest

from leasehold.database import Database, Row, open_database
from leasehold.database.migrations import migrate
from tests.conftest import Psql
from tests.support.sql_guards import expire
from tests.support.sql_holders import HOLDS, pid_of, row_held
from tests.support.sql_jobs import states
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import eventually

AT_ONCE = timedelta(0)


@pytest.mark.parametrize("hold", HOLDS)
async def test_a_session_that_holds_the_job_of_an_expired_lease_is_ended_and_the_job_taken_back(
    database: Database, worker: SqlWorker, hold: str
) -> None:
    claimed = await worker.given()
    async with row_held(database, worker, claimed[0], HOLDS[hold]) as holder, database.reserve("later") as later:
        pid = await pid_of(holder)
        await freeze(later, "2999-01-01")
        assert await later.call("reap_jobs") == []
        told: list[Row] = []
        while rows := await later.call(
            "stop_lost_sessions"
        ):  # each time it waits for the end of a session for a second
            told += rows
        assert {(row["job_id"], row["pid"]) for row in told} == {(1, pid)}
        assert told[-1]["is_ended"] or told[-1]["problem"] == "it was told to end and has not yet"
        assert all(f"session {pid} " in row["explanation"] for row in told)
        assert [row["job_id"] for row in await later.call("reap_jobs")] == [1]

        async def is_anew() -> bool:
            return await pid_of(holder) != pid

        await eventually(is_anew)  # before it hears of its end, its next statement tells it
    assert await states(database) == {1: "pending"}


async def test_a_session_is_left_alone_for_a_while_and_for_ever_where_that_is_asked_for(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given()
    await expire(database, 1)
    async with row_held(database, worker, claimed[0]) as holder:
        for grace in (timedelta(hours=1), None):
            (row,) = await database.call("stop_lost_sessions", grace)
            assert (row["is_ended"], row["problem"]) == (False, None)
        await holder.execute("commit")
    assert await database.call("stop_lost_sessions", AT_ONCE) == []


async def test_a_transaction_that_has_only_begun_is_left_alone_however_long_the_lease_is_over(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given()
    await database.execute("update leasehold.jobs set lease_expires_at = now() - interval '1 hour'")
    async with row_held(database, worker, claimed[0]) as holder:
        (row,) = await database.call("stop_lost_sessions", timedelta(minutes=30))
        assert not row["is_ended"]
        await holder.execute("commit")


async def test_while_the_lease_lasts_a_transaction_may_take_as_long_as_it_likes(
    database: Database, worker: SqlWorker
) -> None:
    claimed = await worker.given()
    async with row_held(database, worker, claimed[0]) as holder:
        assert await database.call("stop_lost_sessions", AT_ONCE) == []
        await holder.execute("commit")


async def test_who_may_not_end_it_is_told_what_to_grant(empty_database_url: str, psql: Psql) -> None:
    """The schema belongs to a plain role, and the session to a superuser."""
    await migrate(empty_database_url)
    psql(
        empty_database_url,
        "create role plain_reaper; grant usage on schema leasehold to plain_reaper; "
        "grant all on all tables in schema leasehold to plain_reaper",
    )
    try:
        async with open_database(empty_database_url) as database, database.reserve("reaper") as reaper:
            worker = SqlWorker(database)
            claimed = await worker.given()
            await expire(database, 1)
            await reaper.execute("set role plain_reaper")
            async with row_held(database, worker, claimed[0]) as holder:
                (row,) = await reaper.call("stop_lost_sessions", AT_ONCE)
                assert not row["is_ended"]
                assert row["problem"] == "role plain_reaper may not end it: grant pg_signal_backend to plain_reaper"
                await holder.execute("commit")
            await reaper.execute("reset role")
    finally:
        psql(empty_database_url, "drop owned by plain_reaper; drop role plain_reaper")
