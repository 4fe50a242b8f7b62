"""`leasehold migrate` while jobs are enqueued, claimed and completed, with others in its way."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import trio

from leasehold.database import Database, open_database
from leasehold.database.migrations import Catalogue, MigrationReport, expected_version, migrate
from leasehold.sql import read_folder
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_worker import SqlWorker
from tests.support.waiting import eventually, until

pytestmark = pytest.mark.acceptance

COLUMN = "alter table leasehold.jobs add column colour text;"
INDEX = "-- concurrently\ncreate index concurrently jobs_colour on leasehold.jobs (colour);\n"
BUILDING = (
    "select pid from pg_stat_activity where query like 'create index concurrently%' and wait_event = 'virtualxid'"
)
PROGRESS = 20
# A step gives way after 0.4–0.8 s; a machine that stands still for a moment makes that more. A reader reads for ever.
IMPATIENT_SECONDS = 10.0
IMPATIENT = f"set lock_timeout = '{IMPATIENT_SECONDS}s'"


def next_version() -> Catalogue:
    """The files of this installation with a new column, a new index, and every function and view with another text."""
    number = expected_version()
    migrations = {**read_folder("migrations"), f"{number + 1:04}_colour": COLUMN, f"{number + 2:04}_index": INDEX}
    changed = {name: f"-- another text\n{text}" for name, text in read_folder("functions").items()}
    return Catalogue.of(migrations, read_folder("views"), changed)


class Load:
    """Producers and workers whose every statement fails if it waits for a lock for as long as a reader reads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.enqueued = 0
        self.completed = 0

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(self._produce)
                nursery.start_soon(self._work)

    async def goes_on(self) -> None:
        """Until more has been enqueued and completed."""
        enqueued, completed = self.enqueued + PROGRESS, self.completed + PROGRESS
        await until(lambda: self.enqueued >= enqueued and self.completed >= completed)

    async def _produce(self) -> None:
        async with self._database.reserve("producer") as connection:
            await connection.execute(IMPATIENT)
            while True:
                await enqueue_many(connection, [{"kind": "a", "key": f"k{self.enqueued % 7}"}, {"kind": "b"}])
                self.enqueued += 2
                await trio.sleep(0.005)

    async def _work(self) -> None:
        async with self._database.reserve("worker") as connection:
            await connection.execute(IMPATIENT)
            worker = SqlWorker(connection)
            while True:
                held = await worker.claim(10)
                with trio.fail_after(IMPATIENT_SECONDS):
                    assert await worker.settle(held) == {}
                self.completed += len(held)
                await trio.sleep(0.005)


@asynccontextmanager
async def reading(database: Database, what: str = "leasehold.jobs") -> AsyncGenerator[None]:
    """A report that takes its time: it holds a lock on what it reads, and a snapshot."""
    async with database.transaction() as reader:
        await reader.execute("set transaction isolation level repeatable read")
        await reader.fetch(f"select count(*) from {what}")
        yield


async def test_enqueue_and_completion_go_on_while_a_migration_waits_for_its_locks(fresh_database_url: str) -> None:
    told: list[str] = []
    reports: list[MigrationReport] = []

    async def run() -> None:
        reports.append(await migrate(fresh_database_url, catalogue=next_version(), say=told.append))

    async with open_database(fresh_database_url, pool_size=10) as database, trio.open_nursery() as nursery:
        load = Load(database)
        async with trio.open_nursery() as loading:
            loading.start_soon(load.run)
            async with reading(database, "generate_series(1, 3)"):  # in the way of the index alone
                async with reading(database):
                    nursery.start_soon(run)
                    await until(lambda: any("waits for leasehold.jobs, which session" in line for line in told))
                    await load.goes_on()
                    assert reports == []
                await eventually(lambda: database.fetch(BUILDING))
                await load.goes_on()
                assert reports == []
            await until(lambda: bool(reports))
            await load.goes_on()
            loading.cancel_scope.cancel()
    assert len(reports[0].functions) == len(read_folder("functions"))
    assert [title.partition("_")[2] for title in reports[0].migrations] == ["colour", "index"]
