from __future__ import annotations

import pytest

from leasehold.database import Database
from leasehold.errors import BadInput, NotFound
from tests.support.sql_fleet import command
from tests.support.sql_worker import SqlWorker


async def test_commands_of_one_worker_are_listed_page_by_page_newest_first(
    database: Database, worker: SqlWorker
) -> None:
    await worker.register()
    await SqlWorker(database, "other").register()
    numbers = [await command(database, name, "pause") for name in ("w1", "other", "w1", "w1")]
    rows = await database.call("list_commands", "w1", page_size=2)
    assert [row["id"] for row in rows] == [numbers[3], numbers[2]]
    rows = await database.call("list_commands", "w1", numbers[2], 2)
    assert [row["id"] for row in rows] == [numbers[0]]


async def test_pages_have_a_size_and_workers_a_name(database: Database, worker: SqlWorker) -> None:
    await worker.register()
    for size in (0, 1001, None):
        with pytest.raises(BadInput, match="page_size must be from 1 to 1000"):
            await database.call("list_commands", "w1", None, size)
    with pytest.raises(NotFound):
        await database.call("list_commands", "nobody")
