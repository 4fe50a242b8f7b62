from __future__ import annotations

from leasehold.database import Database
from tests.sql.workers.commands.test_wake_idle_workers import heard, idle_worker
from tests.support.sql_schedules import create, history, jobs_made, planned, schedule


async def test_its_jobs_are_made_now_and_its_ticks_stay_as_they_are(database: Database) -> None:
    async with database.reserve("clocked") as connection:
        before = await planned(connection, priority=3)
        [made] = await connection.call("trigger_schedule", "s", "ada")
        assert (made["tick_at"], made["job_count"], made["job_ids"]) == (before["next_run_at"], 1, [1])
        after = await schedule(connection)
        assert (after["next_run_at"], after["last_tick_at"]) == (before["next_run_at"], None)
        assert [job["priority"] for job in await jobs_made(connection)] == [3]
        assert await history(connection) == [("s", "fired", None, 1)]


async def test_policies_do_not_hold_for_what_is_done_by_hand(database: Database) -> None:
    await create(database, enabled=False, overlap="skip", ends_at="2020-01-01")
    for _ in range(2):
        assert [row["job_count"] for row in await database.call("trigger_schedule", "s")] == [1]


async def test_idle_workers_are_woken_unless_the_caller_does_it(fresh_database: Database) -> None:
    await create(fresh_database)
    await idle_worker(fresh_database)
    assert await heard(fresh_database, lambda: fresh_database.call("trigger_schedule", "s")) == ["wake:default"]
    assert await heard(fresh_database, lambda: fresh_database.call("trigger_schedule", "s", None, False)) == []
