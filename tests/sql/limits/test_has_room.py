from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_waits import open_transaction
from tests.support.sql_worker import SqlWorker


async def test_without_limits_there_is_room(database: Database) -> None:
    assert await database.call_value("has_room", "default", None)


async def test_a_queue_or_group_that_is_full_has_none(database: Database, worker: SqlWorker) -> None:
    await database.call("set_limit", "default", max_running=2)
    await database.call("set_limit", "default", "g", 1)
    await worker.given_all([{"kind": "a", "key_group": "g"}, {"kind": "a"}], 1)
    assert [await database.call_value("has_room", "default", group) for group in ("g", "h", None)] == [
        False,
        True,
        True,
    ]
    await worker.claim(1)
    assert not await database.call_value("has_room", "default", "h")


async def test_an_empty_bucket_has_none(database: Database, worker: SqlWorker) -> None:
    await database.call("set_limit", "default", rate=0.001, burst=1)
    assert await database.call_value("has_room", "default", None)
    await worker.given_all([{"kind": "a"}])
    assert not await database.call_value("has_room", "default", None)


async def test_where_somebody_else_claims_there_is_none_for_now(database: Database) -> None:
    await database.call("set_limit", "default", max_running=2)
    async with open_transaction(database, "other") as other:
        assert await other.call_value("has_room", "default", None)
        assert not await database.call_value("has_room", "default", None)


async def test_a_paused_queue_has_none_with_limits_and_without(database: Database) -> None:
    await database.call("pause_queue", "default")
    assert not await database.call_value("has_room", "default", None)
    await database.call("set_limit", "default", max_running=2)
    assert not await database.call_value("has_room", "default", None)
    await database.call("resume_queue", "default")
    assert await database.call_value("has_room", "default", None)
