"""A worker beside so many others that it leaves it to them to listen, and what it does when they are no more."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from leasehold import App
from leasehold.database import Database
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import eventually, until
from tests.support.working import Working, a_reaper, working

LISTENERS = (
    "select 1 from pg_stat_activity where application_name like 'test w1%listener' and datname = current_database()"
)
app = App()


@app.kind()
async def quick() -> None:
    """Do nothing."""


@asynccontextmanager
async def resting(database: Database, url: str) -> AsyncGenerator[Working]:
    """A worker beside 32 that listen and started before it. It has been told its place."""
    elders = [SqlWorker(database, f"elder {number}") for number in range(32)]
    for elder in elders:
        await elder.register(kinds=app.served_kinds, heartbeat_seconds=600.0)
    async with working(url, app, heartbeat_seconds=0.5) as running:
        await eventually(lambda: _is_told(database))
        yield running


async def _is_told(database: Database) -> bool:
    beaten = "select 1 from leasehold.workers where worker_id = 'w1' and heartbeat_at > started_at"
    return bool(await database.fetch(beaten))


async def test_it_opens_no_listening_connection_and_finds_its_jobs_by_polling(
    database: Database, database_url: str
) -> None:
    async with resting(database, database_url) as running:
        for _ in range(3):
            await running.run("quick")
        assert not running.switchboard.listening
        assert await database.fetch(LISTENERS) == []
        [row] = await database.fetch("select listening from leasehold.workers where worker_id = 'w1'")
        assert row["listening"] is False


async def test_when_one_that_listens_dies_it_goes_on_polling_and_listens_from_its_next_heartbeat(
    database: Database, database_url: str
) -> None:
    async with resting(database, database_url) as running:
        await database.execute(
            "update leasehold.workers set heartbeat_at = heartbeat_at - interval '1 h' where worker_id = 'elder 7'"
        )
        await running.run("quick")
        await until(lambda: running.switchboard.listening)

        async def says_so() -> bool:
            return bool(await database.fetch("select 1 from leasehold.workers where worker_id = 'w1' and listening"))

        await eventually(says_so)
        await running.run("quick")


async def test_where_those_that_listen_are_back_it_leaves_it_to_them_again(
    database: Database, database_url: str
) -> None:
    async with resting(database, database_url) as running:
        for listening in (False, True):
            await database.execute(
                f"update leasehold.workers set listening = {listening}, started_at = started_at - interval '1 h'"
                " where worker_id like 'elder%'"
            )
            await until(lambda listening=listening: running.switchboard.listening is not listening)
            await running.run("quick")


async def test_beside_a_reaper_it_listens_whatever_its_place(database: Database, database_url: str) -> None:
    for number in range(32):
        await SqlWorker(database, f"elder {number}").register(kinds=app.served_kinds, heartbeat_seconds=600.0)
    async with working(database_url, app, beside=[a_reaper], heartbeat_seconds=0.5) as running:
        await until(lambda: running.switchboard.listening)
        await eventually(lambda: _is_told(database))
        assert running.switchboard.listening
