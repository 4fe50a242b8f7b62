from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_chains import continued, ended
from tests.support.sql_worker import SqlWorker


async def test_the_jobs_of_a_chain_come_in_their_order(database: Database, worker: SqlWorker) -> None:
    ids = await continued(database, worker, "pay", "pack", "ship")
    rows = await database.call("list_chain_jobs", ids[0])
    assert [(row["id"], row["kind"], row["state"]) for row in rows] == [
        (ids[0], "pay", "completed"),
        (ids[1], "pack", "completed"),
        (ids[2], "ship", "pending"),
    ]
    assert [row["succeeded_by"] for row in rows] == [ids[1], ids[2], None]
    assert [row["chain_position"] for row in rows] == [0, 1, 2]


async def test_pages_follow_one_another(database: Database, worker: SqlWorker) -> None:
    ids = await continued(database, worker, *["step"] * 5)
    first = await database.call("list_chain_jobs", ids[0], page_size=3)
    rest = await database.call("list_chain_jobs", ids[0], first[-1]["chain_position"], 3)
    assert [row["id"] for row in [*first, *rest]] == list(ids)


async def test_a_chain_of_one_finished_job_shows_it(database: Database, worker: SqlWorker) -> None:
    chain_id = await ended(database, worker, "failed")
    assert [row["state"] for row in await database.call("list_chain_jobs", chain_id)] == ["failed"]


async def test_what_is_no_chain_has_no_jobs(database: Database, worker: SqlWorker) -> None:
    _, second = await continued(database, worker, "pay", "pack")
    assert await database.call("list_chain_jobs", second) == []
    assert await database.call("list_chain_jobs", 99) == []
