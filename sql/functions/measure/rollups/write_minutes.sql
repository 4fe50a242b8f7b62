-- Purpose     Write down what happened in the minutes of a span, in one look at the jobs: what ended is read from
--             finished_jobs and job_events since the span began, what is still there from jobs. The order of arrival
--             is that of ids.
-- Parameters  since, until: the span, its end not included, whole minutes not written yet · after_id: jobs that came since
--             have greater ids than this one · every: take the times of one job in so many, and count it for all of them
-- Returns     nothing
-- Errors      none
-- Tables      jobs, finished_jobs, job_events (read), rollups (insert)
create or replace function leasehold.write_minutes(since timestamptz, until timestamptz, after_id bigint, every integer) returns void language sql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set plan_cache_mode = force_custom_plan set max_parallel_workers_per_gather = 0
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
with finished as materialized (
    select f.queue, f.state, date_bin('1 minute', f.finished_at, 'epoch') as ended_in,
           case when f.created_at >= write_minutes.since then date_bin('1 minute', f.created_at, 'epoch') end as created_in,
           case when f.claimed_at >= write_minutes.since then date_bin('1 minute', f.claimed_at, 'epoch') end as claimed_in,
           leasehold.bucket_of(f.wait) as wait_bucket, leasehold.bucket_of(f.run) as run_bucket,
           count(*) as jobs, sum(f.wait) * every as wait_seconds, sum(f.run) * every as run_seconds, sum(f.run * f.run) * every as run_squares,
           max(f.finished_at) as last_at
      from (select d.queue, d.state, d.finished_at, d.created_at, d.claimed_at,
                   case when d.state <> 'cancelled' and d.claimed_at is not null and c.is_timed
                        then greatest(0, date_part('epoch', coalesce(d.started_at, d.claimed_at) - d.run_at)) end as wait,
                   case when d.claimed_at is not null and c.is_timed
                        then greatest(0, date_part('epoch', d.finished_at - coalesce(d.started_at, d.claimed_at))) end as run
              from leasehold.finished_jobs d
             cross join lateral (select every = 1 or (hashint8(d.id) & 2147483647) % every = 0 as is_timed) c
             where d.finished_at >= write_minutes.since) f
     group by 1, 2, 3, 4, 5, 6, 7
), given_up as materialized (
    select coalesce(j.queue, (select d.queue from leasehold.finished_jobs d where d.id = e.job_id limit 1)) as queue,
           date_bin('1 minute', e.at, 'epoch') as ended_in, e.event in ('attempt_failed', 'reaped') as is_retried,
           case when e.claimed_at >= write_minutes.since then date_bin('1 minute', e.claimed_at, 'epoch') end as claimed_in,
           date_part('epoch', e.at - e.started_at) as run
      from leasehold.job_events e left join leasehold.jobs j on j.id = e.job_id
     where e.at >= write_minutes.since and e.claimed_at is not null
), happened (queue, starts_at, arrivals, starts, completed, failed, cancelled, retries, wait_seconds, run_seconds, run_squares,
             wait_bucket, run_bucket, waits, runs, last_completed_at) as (
    select queue, ended_in, 0, 0, case when state = 'completed' then jobs end, case when state = 'failed' then jobs end,
           case when state = 'cancelled' then jobs end, 0, wait_seconds, run_seconds, run_squares, wait_bucket, run_bucket, jobs * every, jobs * every,
           case when state = 'completed' then last_at end from finished
    union all
    select queue, created_in, jobs, 0, 0, 0, 0, 0, 0, 0, 0, null, null, 0, 0, null from finished where created_in is not null
    union all
    select queue, claimed_in, 0, jobs, 0, 0, 0, 0, 0, 0, 0, null, null, 0, 0, null from finished where claimed_in is not null
    union all
    select queue, ended_in, 0, 0, 0, 0, 0, is_retried::integer, 0, run, run * run, null, leasehold.bucket_of(run), 0, 1, null from given_up
    union all
    select queue, claimed_in, 0, 1, 0, 0, 0, 0, 0, 0, 0, null, null, 0, 0, null from given_up where claimed_in is not null
    union all
    select j.queue, date_bin('1 minute', j.created_at, 'epoch'), count(*), 0, 0, 0, 0, 0, 0, 0, 0, null, null, 0, 0, null
      from leasehold.jobs j where j.id > write_minutes.after_id and j.created_at >= write_minutes.since group by 1, 2
    union all
    select j.queue, date_bin('1 minute', j.claimed_at, 'epoch'), 0, count(*), 0, 0, 0, 0, 0, 0, 0, null, null, 0, 0, null
      from leasehold.jobs j where j.state in ('claimed', 'running') and j.claimed_at >= write_minutes.since group by 1, 2
)
insert into leasehold.rollups (starts_at, seconds, queue, arrivals, starts, completed, failed, cancelled, retries, wait_seconds, run_seconds,
       run_squares, waits, runs, last_completed_at)
select h.starts_at, 60, h.queue, sum(h.arrivals), sum(h.starts), coalesce(sum(h.completed), 0), coalesce(sum(h.failed), 0),
       coalesce(sum(h.cancelled), 0), sum(h.retries), coalesce(sum(h.wait_seconds), 0), coalesce(sum(h.run_seconds), 0), coalesce(sum(h.run_squares), 0),
       leasehold.make_histogram(array_agg(h.wait_bucket), array_agg(h.waits)), leasehold.make_histogram(array_agg(h.run_bucket), array_agg(h.runs)),
       max(h.last_completed_at)
  from happened h
 where h.starts_at >= write_minutes.since and h.starts_at < write_minutes.until and h.queue is not null
 group by h.queue, h.starts_at
$$;
