"""Backlogs to measure on."""

from __future__ import annotations

import json

from benchmarks import narrow
from benchmarks.server import Connection

QUEUE = "bench"
ARGS = json.dumps(
    {"shop": 4711, "url": "https://shop.example/products?page=17&sort=price", "seen": list(range(100_000, 100_015))}
)

INSERT = """
insert into leasehold.jobs (created_at, run_at, state, kind, queue, args, key_group)
select t.now, t.now, 'pending', $1, $2, $3::jsonb, 'group ' || n % nullif($5::int, 0)
  from generate_series(1, $4) n, (select clock_timestamp() as now) t
"""


async def fill(connection: Connection, jobs: int, *, kind: str = "noop", args: str = "{}", groups: int = 0) -> None:
    """Pending jobs, written the quick way; vacuumed and analyzed, with no checkpoint in between. `groups`: key groups."""
    await connection.execute(INSERT, kind, QUEUE, args, jobs, groups)
    await connection.execute("vacuum analyze leasehold.jobs")


async def fill_narrow(connection: Connection, jobs: int) -> None:
    """The same on the hand-written table, which this makes."""
    await connection.execute(narrow.TABLE)
    await connection.execute(narrow.INSERT, jobs)
    await connection.execute("vacuum analyze narrow")


async def fill_behind_key(connection: Connection, jobs: int) -> None:
    """Jobs of one key, waiting because another of that key is held; enqueued as users do."""
    many = (
        "select count(*) from leasehold.enqueue_jobs((select jsonb_agg($1::jsonb) from generate_series(1, $2)), false)"
    )
    job = f'{{"kind": "noop", "queue": "{QUEUE}", "key": "busy"}}'
    await connection.fetchval(many, job, 1)
    await connection.fetch(
        "select * from leasehold.claim_jobs(incarnation => gen_random_uuid(), worker_id => 'holder', lease => '1 hour')"
    )
    for start in range(0, jobs, 1000):
        await connection.fetchval(many, job, min(1000, jobs - start))
