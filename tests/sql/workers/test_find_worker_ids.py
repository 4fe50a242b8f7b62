from __future__ import annotations

from leasehold.database import Database
from tests.support.sql_worker import SqlWorker


async def test_an_id_is_found_as_it_is_and_a_friendly_name_as_all_workers_that_have_it(database: Database) -> None:
    for name in ("pod-1", "pod-2", "pod-2", "pod-3"):
        await SqlWorker(database, name).register()
    await database.execute("update leasehold.workers set name = 'tidy-magpie' where worker_id <> 'pod-1'")
    for given, found in (
        ("pod-1", ["pod-1"]),
        ("tidy-magpie", ["tidy-magpie", "pod-2", "pod-3"]),
        ("tidy", ["tidy"]),
        ("long gone", ["long gone"]),
    ):
        assert await database.call_value("find_worker_ids", given) == found
    assert await database.call_value("find_worker_ids", None) is None
