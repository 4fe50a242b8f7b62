"""A large installation: jobs that have finished and jobs that wait, workers, schedules, failures."""

from __future__ import annotations

from benchmarks.figures import Say
from benchmarks.filling import MARKS
from benchmarks.server import Connection

DAYS = 3
WORKERS = 500

FINISHED = f"""
insert into leasehold.finished_jobs
       (id, created_at, run_at, claimed_at, started_at, finished_at, priority, attempt, spared_attempts, max_attempts,
        state, kind, queue, key, worker_id, args, output, error, chain_id, chain_position)
select n, at, at, at + '0.1 s', at + '0.1 s', at + '0.2 s', 0, 1, 0, 20,
       case when n % 50 = 0 then 'failed' when n % 97 = 0 then 'cancelled' else 'completed' end,
       'kind ' || n % 40, 'queue ' || n % 20, case when n % 3 = 0 then 'key ' || n % 100000 end, 'worker-' || n % {WORKERS},
       jsonb_build_object('order', n, 'shop', n % 1000), case when n % 50 > 0 then '{{"done": true}}'::jsonb end,
       case when n % 50 = 0
            then jsonb_build_object('type', 'TimeoutError', 'message', 'no answer from shop ' || n % 1000,
                                    'place', 'shop/tasks.py:' || n % 7 || ' in charge',
                                    'traceback', repeat('  File "shop/tasks.py", line 7, in charge' || chr(10), 20)) end,
       case when n % 10 = 0 then n - 1 end, case when n % 10 = 0 then 1 end
  from (select n, clock_timestamp() - interval '{DAYS} days' + n * (interval '{DAYS} days' / ($1::bigint + 1)) as at
          from generate_series($2::bigint, $3::bigint) n) made
"""
EVENTS = """
insert into leasehold.job_events (job_id, at, event, attempt, worker_id, message, detail)
select f.id, f.finished_at - interval '0.05 s', 'attempt_failed', 1, f.worker_id, f.error ->> 'message', f.error
  from leasehold.finished_jobs f where f.state = 'failed' and f.id % 100 = 0
"""
PENDING = """
insert into leasehold.jobs (id, created_at, run_at, state, kind, queue, key, args, key_group)
overriding system value
select $1::bigint + n, now, case when n % 20 = 0 then now + interval '1 hour' else now end,
       case when n % 20 = 0 then 'scheduled' when n % 31 = 0 then 'waiting' else 'pending' end,
       'kind ' || n % 40, 'queue ' || n % 20, case when n % 31 = 0 then 'key ' || n % 100 when n % 2 = 0 then 'own key ' || n end,
       jsonb_build_object('order', n, 'shop', n % 1000), case when n % 4 = 0 then 'tenant ' || n % 200 end
  from generate_series(1, $2::bigint) n, (select clock_timestamp() as now) c
"""
FLEET = f"""
select leasehold.register_worker(gen_random_uuid(), 'worker-' || n, 'pod-' || n / 5, n::integer, '1.0',
                                 array['queue ' || n % 20, 'queue ' || (n + 1) % 20],
                                 array(select 'kind ' || k from generate_series(0, 38) k), 10, true, heartbeat_seconds => 3600)
  from generate_series(0, {WORKERS - 1}) n
"""
HELD = f"""
with chosen as (
    select id, row_number() over () as n from leasehold.jobs where state = 'pending' and key is null and key_group is null
     limit {WORKERS * 4}
), workers as (
    select incarnation, worker_id, row_number() over () as n from leasehold.workers
)
update leasehold.jobs j
   set state = 'running', claimed_at = clock_timestamp(), started_at = clock_timestamp(), heartbeat_at = clock_timestamp(),
       lease_expires_at = clock_timestamp() + interval '1 hour', incarnation = w.incarnation, worker_id = w.worker_id, attempt = 1
  from chosen c join workers w on w.n = 1 + c.n % {WORKERS} where j.id = c.id
"""
SCHEDULES = """
select leasehold.create_schedule(jsonb_build_object('name', 'schedule ' || n, 'kind', 'kind 1', 'every', 60 + n))
  from generate_series(1, 200) n;
insert into leasehold.schedule_ticks (schedule_id, origin, tick_at, fired_at, outcome, job_count, fired_by)
select s.id, 'timer', clock_timestamp() - n * interval '1 minute', clock_timestamp() - n * interval '1 minute', 'fired', 1,
       'scheduler'
  from leasehold.schedules s, generate_series(1, 500) n
"""
DAY = "select set_config('leasehold.frozen_clock', (clock_timestamp() - make_interval(days => $1))::text, false)"
CHUNK = 1_000_000


async def fill_large(connection: Connection, finished: int, pending: int, say: Say) -> None:
    """Jobs finished in three days, others, workers, schedules: as a janitor, an accountant and autovacuum would leave them."""
    for day in range(DAYS, -1, -1):
        await connection.fetchval(DAY, day)
        await connection.execute("select leasehold.ensure_partitions(1)")
    await connection.execute("reset leasehold.frozen_clock")
    for first in range(1, finished + 1, CHUNK):
        await connection.execute(FINISHED, finished, first, min(first + CHUNK - 1, finished))
        say(f"{min(first + CHUNK - 1, finished):,} finished jobs")
    await connection.execute(EVENTS)
    await connection.execute(PENDING, finished, pending)
    await connection.fetchval("select setval('leasehold.jobs_id_seq', $1)", finished + pending)
    await connection.execute(FLEET)
    await connection.execute(HELD)
    await connection.execute(SCHEDULES)
    await connection.execute(MARKS)
    say("vacuum")
    await connection.execute("vacuum analyze")
    while await connection.fetchval("select leasehold.close_minutes()"):
        pass
    await connection.fetch("select leasehold.measure_depths(), leasehold.measure_finished()")
    say("filled")
