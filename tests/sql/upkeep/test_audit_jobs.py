from __future__ import annotations

from datetime import timedelta

from leasehold.database import Database
from tests.support.sql_chains import enqueue_blocked
from tests.support.sql_jobs import enqueue, enqueue_many, snapshot
from tests.support.sql_reasons import faults
from tests.support.sql_worker import SqlWorker

NEGLECT = """
update leasehold.jobs set lease_expires_at = now() - interval '70 s' where kind = 'held';
update leasehold.jobs set run_at = now() - interval '70 s' where kind = 'later';
update leasehold.jobs set deadline = now() - interval '70 s' where kind = 'late';
delete from leasehold.jobs where id = 4;
delete from leasehold.job_blockers where job_id = 6;
"""


async def neglect(database: Database, worker: SqlWorker) -> None:
    """One job for each fault that can be repaired: 1 held, 2 later, 3 late, 5 behind 4, 6 blocked, 8 gone with its edge."""
    await enqueue_many(database, [{"kind": "held"}, {"kind": "later", "delay": 60}, {"kind": "late"}])
    await enqueue_many(database, [{"kind": kind, "key": "k"} for kind in ("line", "line")])
    await enqueue_blocked(database, [3])
    await enqueue(database, "other")
    await enqueue_blocked(database, [7], "gone")
    await worker.claim(kinds=["held"])
    await database.execute(NEGLECT + "delete from leasehold.jobs where kind = 'gone'")


REPAIRABLE = {
    ("held_by_nobody", "job 1"),
    ("overdue", "job 2"),
    ("deadline_missed", "job 3"),
    ("waiting_for_nobody", "job 5"),
    ("blocked_by_nothing", "job 6"),
    ("edge_of_nobody", "job 8"),
}


async def test_it_only_looks(database: Database, worker: SqlWorker) -> None:
    await neglect(database, worker)
    before = await snapshot(database)
    rows = await database.call("audit_jobs")
    assert {(row["finding"], row["subject"]) for row in rows} == REPAIRABLE
    assert await snapshot(database) == before


async def test_grace_says_how_long_a_thing_may_be_overdue(database: Database) -> None:
    await enqueue(database, delay=timedelta(hours=1))
    await database.execute("update leasehold.jobs set run_at = now() - interval '10 s'")
    assert await faults(database) == []
    rows = await database.call("audit_jobs", timedelta(seconds=5))
    assert [row["finding"] for row in rows] == ["overdue"]
