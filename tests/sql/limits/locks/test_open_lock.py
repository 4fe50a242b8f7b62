from __future__ import annotations

from leasehold.database import Database


async def test_all_queues_share_sixteen_locks(database: Database) -> None:
    [row] = await database.fetch(
        "select count(distinct leasehold.open_lock('q' || n)),"
        " bool_or(leasehold.open_lock('q' || n) = leasehold.queue_lock('q' || n))"
        " from generate_series(1, 10000) n"
    )
    assert tuple(row) == (16, False)
