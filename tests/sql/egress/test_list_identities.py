from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_identities import add, give_back, held_job, take
from tests.support.sql_worker import SqlWorker


async def test_each_is_shown_with_its_state_and_without_its_password(database: Database) -> None:
    for name in ("cold", "gone", "idle", "used"):
        await add(database, name, proxy="http://proxy.example", proxy_user="me", proxy_password="hunter2")
    await database.call("retire_identity", "gone", "was slow")
    await give_back(database, await take(database, wanted="cold"), "refused")
    worker = SqlWorker(database)
    job = await held_job(database, worker)
    await take(database, job, worker, wanted="used")
    rows = {row["name"]: row for row in await database.call("list_identities", True)}
    assert {name: row["state"] for name, row in rows.items()} == {
        "cold": "cooling",
        "gone": "retired",
        "idle": "ready",
        "used": "leased",
    }
    assert rows["cold"]["cools_for"] > 0
    assert rows["used"]["leased_job"] == job["job_id"]
    assert "hunter2" not in repr([dict(row) for row in rows.values()])
    assert [row["name"] for row in await database.call("list_identities")] == ["cold", "idle", "used"]
