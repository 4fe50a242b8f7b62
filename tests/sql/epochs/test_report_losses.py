from __future__ import annotations

from leasehold.database import Database
from tests.support.epochs import begin_epoch


async def test_what_several_workers_lost_adds_up_and_a_hundred_are_named(database: Database) -> None:
    epoch = await begin_epoch(database)
    await database.call("report_losses", epoch, [7, 5])
    await database.call("report_losses", epoch, list(range(1000, 1200)))
    await database.call("report_losses", epoch, [])
    [row] = await database.call("list_epochs")
    assert (row["lost_jobs"], row["lost_job_ids"][:3], len(row["lost_job_ids"])) == (202, [7, 5, 1000], 100)
    assert row["last_lost_id"] == 1199
