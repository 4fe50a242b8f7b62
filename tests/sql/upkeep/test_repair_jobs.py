from __future__ import annotations

from leasehold.database import Database
from tests.sql.upkeep.test_audit_jobs import REPAIRABLE, neglect
from tests.support.sql_chains import enqueue_blocked
from tests.support.sql_jobs import enqueue_many, events, snapshot, states
from tests.support.sql_reasons import repaired
from tests.support.sql_worker import SqlWorker


async def test_what_can_be_repaired_is_and_a_second_look_finds_nothing(database: Database, worker: SqlWorker) -> None:
    await neglect(database, worker)
    await SqlWorker(database, "idle").register()
    assert await repaired(database) == dict.fromkeys(REPAIRABLE, True)
    assert await states(database) == {1: "pending", 2: "pending", 3: "failed", 5: "pending", 6: "pending", 7: "pending"}
    assert await repaired(database) == {}


async def test_repairs_are_in_the_timelines(database: Database, worker: SqlWorker) -> None:
    await neglect(database, worker)
    await database.call("repair_jobs")
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


async def test_many_faults_of_one_kind_are_all_repaired(database: Database, worker: SqlWorker) -> None:
    await worker.given_all([{"kind": "a"}] * 2500, 2500)
    await database.execute("update leasehold.jobs set lease_expires_at = now() - interval '70 s'")
    assert set((await repaired(database)).values()) == {True}
    assert await repaired(database) == {}
