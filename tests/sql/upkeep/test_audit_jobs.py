from __future__ import annotations

from datetime import timedelta

from leasehold.database import Database
from tests.support.sql_edges import enqueue_blocked
from tests.support.sql_jobs import enqueue, enqueue_many, events, snapshot, states
from tests.support.sql_reasons import faults, repaired
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


async def test_it_only_looks_unless_told_to_repair(database: Database, worker: SqlWorker) -> None:
    await neglect(database, worker)
    before = await snapshot(database)
    rows = await database.call("audit_jobs")
    assert {(row["finding"], row["subject"]) for row in rows} == REPAIRABLE
    assert {row["is_repaired"] for row in rows} == {False}
    assert await snapshot(database) == before


async def test_what_can_be_repaired_is_and_a_second_look_finds_nothing(database: Database, worker: SqlWorker) -> None:
    await neglect(database, worker)
    await SqlWorker(database, "idle").register()
    assert await repaired(database) == dict.fromkeys(REPAIRABLE, True)
    assert await states(database) == {1: "pending", 2: "pending", 3: "failed", 5: "pending", 6: "pending", 7: "pending"}
    assert await repaired(database) == {}


async def test_repairs_are_in_the_timelines(database: Database, worker: SqlWorker) -> None:
    await neglect(database, worker)
    await database.call("audit_jobs", True)
    for job_id in (1, 2, 3, 5, 6):
        assert "audited" in [event for event, _ in await events(database, job_id)]
    (row,) = await database.fetch("select message from leasehold.job_events where job_id = 2 and event = 'audited'")
    assert row["message"].startswith("overdue: it was due at ")
    assert await database.fetch("select from leasehold.job_events where job_id = 8 and event = 'audited'") == []


async def test_what_only_people_can_decide_is_reported_and_left(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 3)
    await enqueue_blocked(database, [1])
    await enqueue_blocked(database, [2])
    await worker.fail(await worker.claim(1), discard=[True])
    await database.execute("update leasehold.jobs set state = 'pending' where id = 5")
    await database.execute("update leasehold.jobs set chain_id = 2, chain_position = 1 where id = 3")
    before = await snapshot(database)
    expected = {
        ("blocked_for_ever", "job 4"): False,
        ("unheeded_blocker", "job 5"): False,
        ("two_tails", "job 3"): False,
    }
    for _ in range(2):
        assert await repaired(database) == expected
    assert await snapshot(database) == before


async def test_grace_says_how_long_a_thing_may_be_overdue(database: Database) -> None:
    await enqueue(database, delay=timedelta(hours=1))
    await database.execute("update leasehold.jobs set run_at = now() - interval '10 s'")
    assert await faults(database) == []
    rows = await database.call("audit_jobs", False, timedelta(seconds=5))
    assert [row["finding"] for row in rows] == ["overdue"]


async def test_many_faults_of_one_kind_are_all_repaired(database: Database, worker: SqlWorker) -> None:
    await enqueue_many(database, [{"kind": "a"}] * 2500)
    await worker.claim(2500)
    await database.execute("update leasehold.jobs set lease_expires_at = now() - interval '70 s'")
    assert set((await repaired(database)).values()) == {True}
    assert await repaired(database) == {}
