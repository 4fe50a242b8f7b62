from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_jobs import pile_up
from tests.support.sql_worker import SqlWorker


async def test_it_is_the_last_of_so_many_jobs_counted_from_the_newest(database: Database) -> None:
    await pile_up(database, 10)
    assert await database.call_value("find_page_end", jobs=3, timeout=None) == 8
    assert await database.call_value("find_page_end", before_id=8, jobs=3, timeout=None) == 5
    assert await database.call_value("find_page_end", before_id=3, jobs=3, timeout=None) is None


async def test_only_jobs_of_the_state_or_key_count(database: Database, worker: SqlWorker) -> None:
    await worker.complete(await worker.given_all([{"kind": "a", "key": "k"}, {"kind": "a"}, {"kind": "a"}], 2))
    await pile_up(database, 3)
    assert await database.call_value("find_page_end", state="completed", jobs=2, timeout=None) == 1
    assert await database.call_value("find_page_end", key="k", jobs=1, timeout=None) == 1
