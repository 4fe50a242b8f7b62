-- Purpose     Show what went into and out of each queue since a moment, for views that refresh every second. It reads
--             what came since, so ask for a short while.
-- Parameters  since: ends from this moment on · after_id: jobs with greater ids came since; null: none did
--             max_rows: at most so many jobs are looked at, of those that came and of those that ended
-- Returns     queue, arrived, completed, failed, cancelled; and in each row, also in one without a queue, newest_id: to be
--             passed as after_id next time, at: as since
-- Errors      none
-- Tables      jobs, finished_jobs (read)
create or replace function leasehold.measure_flow(since timestamptz, after_id bigint default null, max_rows integer default 20000)
returns table (queue text, arrived bigint, completed bigint, failed bigint, cancelled bigint, newest_id bigint, at timestamptz)
language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
with newest as (
    select greatest((select j.id from leasehold.jobs j order by j.id desc limit 1),
                    (select f.id from leasehold.finished_jobs f order by f.id desc limit 1), 0) as id, leasehold.clock() as at
), ended as (
    select f.id, f.queue, f.state from leasehold.finished_jobs f where f.finished_at >= measure_flow.since limit measure_flow.max_rows
), waiting as (
    select j.id, j.queue from leasehold.jobs j where j.id > measure_flow.after_id order by j.id desc limit measure_flow.max_rows
), flow as (
    select w.queue, 1 as arrived, null as state from waiting w
    union all
    select e.queue, case when e.id > measure_flow.after_id then 1 else 0 end, e.state from ended e
), counted as (
    select f.queue, sum(f.arrived) as arrived, count(*) filter (where f.state = 'completed') as completed,
           count(*) filter (where f.state = 'failed') as failed, count(*) filter (where f.state = 'cancelled') as cancelled
      from flow f group by f.queue
)
select c.queue, c.arrived, c.completed, c.failed, c.cancelled, n.id, n.at from newest n left join counted c on true
$$;
