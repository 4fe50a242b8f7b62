from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import WrongState
from tests.support.sql_jobs import enqueue
from tests.support.sql_kinds import catalogued, declare
from tests.support.sql_worker import SqlWorker


async def drop(database: Database, kind: str = "report") -> bool:
    [row] = await database.call("drop_kind", kind)
    return row["drop_kind"]


async def test_a_kind_that_nobody_has_any_more_is_dropped_with_all_its_versions(database: Database) -> None:
    await declare(database, {"kind": "report", "queue": "a"}, {"kind": "charge"})
    await declare(database, {"kind": "report", "queue": "b"}, version="2")
    assert await drop(database)
    assert not await drop(database)
    assert [row["kind"] for row in await database.call("list_kinds")] == ["charge"]
    left = await database.fetch("select distinct kind from leasehold.kind_versions")
    assert [row["kind"] for row in left] == ["charge"]


async def test_what_was_dropped_may_be_declared_again(database: Database) -> None:
    await declare(database, {"kind": "report"})
    await drop(database)
    assert await declare(database, {"kind": "report"}) == {"report": "created"}


async def test_a_kind_that_a_live_worker_serves_is_shown_as_such_and_not_dropped(database: Database) -> None:
    await declare(database, {"kind": "report"})
    assert (await catalogued(database, "report"))["workers"] == 0
    worker = SqlWorker(database)
    await worker.register(kinds=["report"])
    assert (await catalogued(database, "report"))["workers"] == 1
    with pytest.raises(WrongState, match=r"kind 'report' is in use: worker .* serves it"):
        await drop(database)
    await database.execute("update leasehold.workers set stopped_at = leasehold.clock(), state = 'stopped'")
    assert (await catalogued(database, "report"))["workers"] == 0
    assert await drop(database)


async def test_a_worker_of_that_version_that_takes_all_kinds_serves_it(database: Database) -> None:
    await declare(database, {"kind": "report"}, version="7")
    await SqlWorker(database).register(kinds=[], app_version="8")
    assert (await catalogued(database, "report"))["workers"] == 0
    await SqlWorker(database).register(kinds=[], app_version="7")
    assert (await catalogued(database, "report"))["workers"] == 1
    with pytest.raises(WrongState, match="serves it"):
        await drop(database)


async def test_a_kind_with_a_job_that_has_not_ended_is_not_dropped(database: Database) -> None:
    await declare(database, {"kind": "report"})
    made = await enqueue(database, "report")
    with pytest.raises(WrongState, match=f"kind 'report' is in use: job {made} has not ended"):
        await drop(database)
    await database.call("cancel_job", made)
    assert await drop(database)


async def test_a_kind_of_a_schedule_is_not_dropped(database: Database) -> None:
    await declare(database, {"kind": "report"})
    await database.call("create_schedule", '{"name": "nightly", "kind": "report", "cron": "@daily"}')
    with pytest.raises(WrongState, match="schedule 'nightly' makes jobs of it"):
        await drop(database)
