from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_horizon import bury, count_marks, old_snapshot
from tests.support.sql_jobs import enqueue, pile_up
from tests.support.sql_work import UNDISTURBED
from tests.support.sql_worker import SqlWorker

DUE = "update leasehold.lane_marks set next_look_at = '2000-01-01'"


async def test_a_job_that_was_committed_late_is_found(fresh_database: Database) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    worker = SqlWorker(database)
    async with old_snapshot(database), database.reserve("slow") as slow:
        await slow.execute("begin")
        late = await enqueue(slow, "plain")
        await slow.execute("update leasehold.jobs set run_at = run_at - interval '5 minutes'")
        await bury(database, 10_000)
        await pile_up(database, 1, "plain")
        await worker.claim(1)
        await slow.execute("commit")
        assert await worker.claim(1) == []
        await database.execute(DUE)
        await database.call("reap_jobs")
        assert [job["job_id"] for job in await worker.claim(1)] == [late]


async def test_marks_go_when_vacuum_has_been_there(fresh_database: Database) -> None:
    database = fresh_database
    await database.execute(UNDISTURBED)
    async with old_snapshot(database):
        await bury(database, 10_000)
        await pile_up(database, 1, "plain")
        await SqlWorker(database).claim(1)
        assert await count_marks(database) == 1
        await database.execute(DUE)
        assert await database.call_value("look_behind_marks") == 0
        assert await count_marks(database) == 1
    await database.execute("vacuum (index_cleanup on) leasehold.jobs")
    await database.execute(DUE)
    assert await database.call_value("look_behind_marks") == 0
    assert await count_marks(database) == 0


async def test_where_somebody_else_looks_nothing_is_done(database: Database) -> None:
    await database.execute(
        "insert into leasehold.lane_marks values ('default', 'plain', 0, 0, '2030-01-01', 1, '2000-01-01')"
    )
    await enqueue(database, "plain")
    async with database.reserve("other") as other:
        await other.execute("begin")
        assert await other.call_value("look_behind_marks") == 1
        assert await database.call_value("look_behind_marks") == 0
        await other.execute("rollback")
    assert await database.call_value("look_behind_marks") == 1
