from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import NotFound
from tests.support.sql_fleet import worker_row
from tests.support.sql_worker import SqlWorker


async def test_a_worker_is_shown_alive_and_after_its_end(database: Database, worker: SqlWorker) -> None:
    await worker.register(queues=["q"], kinds=["a"])
    row = await worker_row(database, "w1")
    assert (row["worker_id"], row["state"], row["queues"], row["kinds"]) == ("w1", "ready", ["q"], ["a"])
    await database.call("stop_worker", worker.incarnation)
    row = await worker_row(database, "w1")
    assert (row["state"], row["stopped_at"] is None) == ("stopped", False)


async def test_an_unknown_one_is_an_error(database: Database) -> None:
    with pytest.raises(NotFound):
        await database.call("get_worker", "w1")
