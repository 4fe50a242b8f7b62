from __future__ import annotations

import msgspec

from leasehold.database import Database, open_database

READ = """
select r.row_id, r.doc::text, r.complaint
  from leasehold.find_source(null, false) s, jsonb_array_elements(s.mapping -> 'jobs') p, leasehold.read_source_rows(s, p, $1, $2) r
"""


async def test_rows_are_read_as_jobs_in_their_order_and_as_many_as_wanted(tasks: Database) -> None:
    await tasks.execute(
        "insert into worker_tasks (role, dispensary_id) select 'product_resync', n from generate_series(1, 3) n"
    )
    rows = await tasks.fetch(READ, 2, False)
    assert [row["row_id"] for row in rows] == ["1", "2"]
    assert msgspec.json.decode(rows[0]["doc"]) == {
        "kind": "product_resync",
        "queue": "product_resync",
        "key": "1",
        "args": {},
        "priority": 0,
        "max_attempts": 4,
        "metadata": {"moved_from": {"source": "worker_tasks", "table": "public.worker_tasks", "id": "1"}},
    }


async def test_rows_that_somebody_holds_are_passed_over(tasks: Database, database_url: str) -> None:
    await tasks.execute("insert into worker_tasks (role) select 'store_discovery' from generate_series(1, 3)")
    async with open_database(database_url) as other, other.transaction() as transaction:
        await transaction.fetch("select id from worker_tasks where id = 2 for update")
        assert [row["row_id"] for row in await tasks.fetch(READ, None, True)] == ["1", "3"]
        assert [row["row_id"] for row in await tasks.fetch(READ, None, False)] == ["1", "2", "3"]
