"""Backlogs to measure on."""

from __future__ import annotations

import json

from benchmarks.server import Connection

QUEUE = "bench"
ARGS = json.dumps(
    {"shop": 4711, "url": "https://shop.example/products?page=17&sort=price", "seen": list(range(100_000, 100_015))}
)

INSERT = """
insert into leasehold.jobs (created_at, run_at, state, kind, queue, args)
select t.now, t.now, 'pending', $1, $2, $3::jsonb
  from generate_series(1, $4), (select clock_timestamp() as now) t
"""

NARROW = """
create table narrow (
    id      bigint generated always as identity primary key,
    state   smallint not null default 0,
    attempt integer not null default 0,
    run_at  timestamptz not null default clock_timestamp(),
    args    jsonb not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
create index on narrow (run_at, id) where state = 0
"""


async def fill(connection: Connection, jobs: int, *, kind: str = "noop", args: str = "{}") -> None:
    """Pending jobs, written the quick way; vacuumed and analyzed, with no checkpoint in between."""
    await connection.execute(INSERT, kind, QUEUE, args, jobs)
    await connection.execute("vacuum analyze leasehold.jobs")


async def fill_narrow(connection: Connection, jobs: int) -> None:
    """A hand-written job table with nothing that could be left out."""
    await connection.execute(NARROW)
    await connection.execute("insert into narrow (args) select '{}' from generate_series(1, $1)", jobs)
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
