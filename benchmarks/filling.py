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
insert into leasehold.jobs (created_at, run_at, state, priority, max_attempts, kind, queue, args, key_group)
select t.now, t.now, 'pending', 0, 20, $1, $2, $3::jsonb, 'group ' || n % nullif($5::int, 0)
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


HISTORY = """
insert into leasehold.finished_jobs
       (id, created_at, run_at, claimed_at, started_at, finished_at, priority, attempt, spared_attempts, max_attempts,
        state, kind, queue, key, args)
select n, at, at, at + '0.1 s', at + '0.1 s', at + '0.2 s', 0, 1, 0, 20,
       'completed', 'kind ' || n % $2, 'queue ' || n % $3, 'key ' || n % $4, '{}'
  from (select n, clock_timestamp() - interval '1 day' + n * (interval '1 day' / ($1 + 1)) as at from generate_series(1, $1) n) made
"""
PENDING = """
insert into leasehold.jobs (id, created_at, run_at, state, priority, max_attempts, kind, queue, key, args)
overriding system value
select $1 + n, clock_timestamp(), clock_timestamp(), 'pending', 0, 20, 'kind ' || n % $3, 'queue ' || n % $4,
       case when n % 2 = 0 then 'key ' || n end, '{}'
  from generate_series(1, $2) n
"""
YESTERDAY = """
select set_config('leasehold.frozen_clock', (clock_timestamp() - interval '1 day')::text, false)
"""
MARKS = """
delete from leasehold.id_marks;
insert into leasehold.id_marks
select min(id) - 1, min(finished_at) - interval '2 s' from leasehold.finished_jobs group by finished_at::date
"""
MOST_QUEUES, MOST_KINDS, MOST_KEYS, MOST_PENDING = 10_000, 5_000, 200_000, 100_000


async def fill_history(connection: Connection, finished: int) -> None:
    """Jobs that finished in the last day, a tenth as many pending ones, and as many queues, kinds and keys as fit to them.

    Partitions, books and statistics are as a janitor, an accountant and autovacuum would have left them.
    """
    queues, kinds, keys = min(MOST_QUEUES, finished // 10), min(MOST_KINDS, finished // 10), min(MOST_KEYS, finished)
    pending = max(1_000, min(MOST_PENDING, finished // 10))
    await connection.fetchval(YESTERDAY)
    await connection.execute("select leasehold.ensure_partitions(1)")
    await connection.execute("reset leasehold.frozen_clock")
    await connection.execute("select leasehold.ensure_partitions(1)")
    await connection.execute(HISTORY, finished, kinds, queues, keys)
    await connection.execute(PENDING, finished, pending, kinds, queues)
    await connection.fetchval("select setval('leasehold.jobs_id_seq', $1)", finished + pending)
    await connection.execute(MARKS)
    await connection.execute("vacuum analyze")
    while await connection.fetchval("select leasehold.close_minutes()"):
        pass
