from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_books import finish
from tests.support.sql_jobs import enqueue_many
from tests.support.sql_waits import frozen
from tests.support.sql_worker import SqlWorker

SEED = [
    "pending",
    "ready",
    "claimed",
    "running",
    "completed_last_hour",
    "failed_last_hour",
    "active_workers",
    "avg_seconds",
    "jobs_per_worker_hour",
    "hours_to_drain",
]


async def test_each_queue_has_the_figures_of_its_jobs_and_of_the_workers_that_serve_it(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        one, other = SqlWorker(connection, "one"), SqlWorker(connection, "other")
        await one.register(slots=4)
        await other.register(queues=["r"], slots=2)
        await finish(connection, "2026-03-01 11:20Z", 9, run=4.5)
        await finish(connection, "2026-03-01 11:20Z", 1, run=4.5, state="failed")
        await enqueue_many(connection, [{"kind": "a", "queue": "q"}] * 5 + [{"kind": "a", "queue": "q", "delay": 60}])
        await enqueue_many(
            connection,
            [
                {"kind": "a", "queue": "q", "key": "k"},
                {"kind": "a", "queue": "r"},
                {"kind": "a", "queue": "q", "key": "k"},
            ],
        )
        jobs = await one.claim(2, queues=["q"])
        await one.start(jobs[:1])
        rows = {row["queue"]: row for row in await connection.call("list_capacity")}
    assert [rows["q"][name] for name in SEED] == [6, 4, 1, 1, 9, 1, 1, 4.5, 3200.0, 6 / 3200]
    assert (rows["q"]["waiting"], rows["q"]["active_slots"], rows["q"]["arrivals_per_second"]) == (1, 4, 8 / 600)
    assert [rows["r"][name] for name in SEED] == [1, 1, 0, 0, 0, 0, 2, None, None, None]
    assert (rows["r"]["active_slots"], rows["r"]["slots_per_worker"]) == (6, 3.0)


async def test_workers_that_are_silent_drain_or_have_stopped_do_not_count(database: Database) -> None:
    async with frozen(database, "2026-03-01 12:00Z") as connection:
        for name in ("silent", "draining", "alive"):
            await SqlWorker(connection, name).register()
        await connection.execute(
            "update leasehold.workers set heartbeat_at = heartbeat_at - interval '4 minutes' where worker_id = 'silent';"
            "update leasehold.workers set state = 'draining' where worker_id = 'draining'"
        )
        await enqueue_many(connection, [{"kind": "a"}])
        (row,) = await connection.call("list_capacity")
    assert row["active_workers"] == 1


async def test_a_queue_with_nothing_left_to_do_is_drained(database: Database) -> None:
    await finish(database, "2026-03-01 11:20Z")
    (row,) = await database.call("list_capacity")
    assert (row["pending"], row["hours_to_drain"], row["arrivals_per_second"]) == (0, 0.0, 0.0)
