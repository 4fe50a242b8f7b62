from __future__ import annotations

from leasehold.database import Database, Transaction
from tests.support.sql_jobs import enqueue, states
from tests.support.sql_worker import SqlWorker

JUDGED = """
select array(select j.id from leasehold.jobs j where j.ctid = any (d.free)) as free,
       array(select j.id from leasehold.jobs j where j.ctid = any (d.passed)) as passed, d.demoted
  from (select array_agg(l.ctid) as places, array_agg(l.key) as keys
          from (select j.ctid, j.key from leasehold.jobs j where j.state = 'pending' order by j.id for update) l) locked
 cross join lateral leasehold.demote_keyed_jobs(locked.places, locked.keys) d
"""


async def judged(session: Transaction) -> tuple[list[int], list[int], int]:
    """What becomes of all pending jobs: free, passed over, how many were demoted."""
    (row,) = await session.fetch(JUDGED)
    return sorted(row["free"]), sorted(row["passed"]), row["demoted"]


async def test_the_best_job_of_a_free_key_is_taken_and_the_others_wait(database: Database) -> None:
    for kind, key, priority in [("a", "k", 0), ("b", "k", 5), ("a", "other", 0)]:
        await enqueue(database, kind, key=key, priority=priority)
    async with database.transaction() as session:
        assert await judged(session) == ([2, 3], [], 1)
    assert await states(database) == {1: "waiting", 2: "pending", 3: "pending"}


async def test_no_job_of_a_held_key_is_taken(database: Database, worker: SqlWorker) -> None:
    await enqueue(database, "a", key="k")
    await worker.claim()
    await enqueue(database, "b", key="k")
    await database.fetch("update leasehold.jobs set state = 'pending' where id = 2")
    async with database.transaction() as session:
        assert await judged(session) == ([], [], 1)
    assert await states(database) == {1: "claimed", 2: "waiting"}


async def test_a_job_is_passed_over_while_its_key_is_settled(database: Database) -> None:
    await enqueue(database, "a", key="k")
    await enqueue(database, "a", key="other")
    async with database.transaction() as settling, database.transaction() as session:
        await settling.fetch("select pg_advisory_xact_lock(leasehold.key_lock('k'))")
        assert await judged(session) == ([2], [1], 0)
    assert await states(database) == {1: "pending", 2: "pending"}
