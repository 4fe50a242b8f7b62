from __future__ import annotations

from datetime import UTC, datetime

from leasehold.database import Database
from tests.support.sql_jobs import enqueue, enqueue_many
from tests.support.sql_limits import limit
from tests.support.sql_reasons import because, facts, reasons
from tests.support.sql_waits import freeze
from tests.support.sql_worker import SqlWorker, frozen_worker


async def test_a_queue_that_is_full(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await limit(database, queue="q", max_running=2)
    await enqueue_many(database, [{"kind": "a", "queue": "q"}] * 4)
    assert "limited" not in await reasons(database, 3)
    await worker.claim()
    row = await because(database, 4, "limited")
    assert row["explanation"] == "queue q may have 2 running at once, and 2 are held"
    assert row["until"] is None
    found = await facts(database, 4, "limited")
    assert (found["max_running"], found["running"], found["rate"]) == (2, 2, None)
    assert await reasons(database, 3) == ["limited"]
    assert await reasons(database, 4) == ["limited", "behind"]


async def test_a_rate_says_when_the_next_one_may_start(database: Database) -> None:
    async with frozen_worker(database, "2026-03-01 12:00Z") as (connection, worker):
        await worker.register()
        await limit(connection, queue="q", rate=0.1, burst=2)
        assert len(await worker.given_all([{"kind": "a", "queue": "q"}] * 3)) == 2
        row = await because(connection, 3, "limited")
        assert row["explanation"] == "queue q may start one every 10 s (2 at once), and its next start is in 10.0 s"
        assert row["until"] == datetime(2026, 3, 1, 12, 0, 10, tzinfo=UTC)
        await freeze(connection, "2026-03-01 12:00:10Z")
        assert "limited" not in await reasons(connection, 3)
        assert len(await worker.claim()) == 1


async def test_full_and_dry_at_once(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await limit(database, queue="q", max_running=1, rate=0.001, burst=1)
    await worker.given_all([{"kind": "a", "queue": "q"}] * 2)
    row = await because(database, 2, "limited")
    assert (
        "may have 1 running at once, and 1 are held, and may start one every 1000 s (1 at once)" in row["explanation"]
    )
    assert row["until"] is None


async def test_a_key_group_is_limited_alone_and_with_its_queue(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    await limit(database, queue="q", group="*", max_running=1)
    await limit(database, queue="q", group="big", max_running=2)
    groups = ("a", "a", "b", "big", "big", None)
    await worker.given_all([{"kind": "x", "queue": "q", "key_group": group} for group in groups])
    assert "limited" in await reasons(database, 2)
    assert (await because(database, 2, "limited"))["explanation"] == (
        "key group a of queue q may have 1 running at once, and 1 are held"
    )
    await limit(database, queue="q", max_running=3)
    both = [row["explanation"] for row in await database.call("explain_job", 2) if row["reason"] == "limited"]
    assert len(both) == 2
    assert both[0].startswith("queue q may have 3")


async def test_limits_of_other_queues_and_groups_do_not_count(database: Database) -> None:
    await limit(database, queue="q", max_running=0)
    await limit(database, group="b", max_running=0)
    await enqueue(database, key_group="a")
    assert await reasons(database, 1) == ["unserved"]
    await limit(database, max_running=0)
    assert await reasons(database, 1) == ["unserved", "limited"]
