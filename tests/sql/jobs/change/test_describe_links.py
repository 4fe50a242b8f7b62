from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_worker import SqlWorker

DESCRIBE = "select leasehold.describe_links(a) as said from leasehold.all_jobs a order by a.id"


async def test_a_job_of_its_own_has_none(database: Database) -> None:
    await enqueue_many(database, [{"kind": "a"}])
    assert [row["said"] for row in await database.fetch(DESCRIBE)] == [None]


async def test_a_worker_that_holds_it_and_a_chain_with_other_jobs_are_links(
    database: Database, worker: SqlWorker
) -> None:
    await enqueue_many(database, [{"kind": "a"}, {"kind": "held"}])
    await worker.continue_with(await worker.claim(kinds=["a"]), [{"next": {"kind": "b"}}])
    await worker.claim(kinds=["held"])
    assert [row["said"] for row in await database.fetch(DESCRIBE)] == [
        "job 1 cannot be deleted: chain 1 has other jobs, too",
        "job 2 is claimed and cannot be deleted: a worker holds it",
        "job 3 cannot be deleted: chain 1 has other jobs, too",
    ]
