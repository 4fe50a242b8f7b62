from __future__ import annotations

import pytest
import trio

from leasehold.database import Database, open_database
from leasehold.database.cluster import Cluster
from leasehold.database.migrations import migrate
from leasehold.errors import LeaseholdError
from tests.support.folders import short_folder
from tests.support.servers import UNSAFE, programs_of
from tests.support.sql_jobs import enqueue
from tests.support.sql_waits import open_transaction
from tests.support.sql_worker import SqlWorker

SMALL = {**UNSAFE, "max_notify_queue_pages": "64"}
FILL = "select pg_notify('stuck', rpad(n::text, $1::int, 'x')) from generate_series(1, 10) n"


async def fill(database: Database, payload: int) -> None:
    """Notifications of so many bytes, until one is refused."""
    while True:
        await database.fetch(FILL, payload)


async def commits_with_a_full_queue(dsn: str) -> None:
    """A session listens and then stays in a transaction, so that nothing leaves the queue."""
    await migrate(dsn)
    async with open_database(dsn) as database:
        worker = SqlWorker(database)
        await worker.register()
        await worker.claim()
        async with database.reserve("stuck") as stuck:
            await stuck.execute("listen stuck")
            await stuck.execute("begin")
            await stuck.fetch("select 1")
            for payload in (7600, 500):
                with pytest.raises(LeaseholdError, match="too many notifications in the NOTIFY queue"):
                    await fill(database, payload)
            async with open_transaction(database, "producer") as producer:
                job_id = await enqueue(producer)
                await producer.call("wake_idle_workers", ["default"])
                await producer.call("wake_idle_workers", [f"q{n}" for n in range(30)])
                await producer.execute("commit")
            await database.call("cancel_job", job_id)
            await stuck.execute("commit")
        await enqueue(database)
        assert await database.call_value("wake_idle_workers", ["default"]) == 1


def test_a_full_queue_of_notifications_fails_no_commit() -> None:
    with short_folder(fast=True) as folder:
        cluster = Cluster(folder, programs_of("embedded18"), conf=SMALL, sync=False)
        cluster.start()
        try:
            trio.run(commits_with_a_full_queue, cluster.dsn("postgres"))
        finally:
            cluster.stop("immediate")
