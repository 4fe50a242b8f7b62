-- Purpose     List the latest failed attempts and jobs that failed for good, for views that refresh every second. It
--             reads everything that happened since the given moment, so ask for a short while.
-- Parameters  since: from this moment on · max_rows: at most
-- Returns     at, job_id, attempt, kind, queue, worker_id, message (with type and place of the error), is_final (the job has
--             failed for good); latest first
-- Errors      none
-- Tables      finished_jobs, job_events, jobs (read)
create or replace function leasehold.list_failures(since timestamptz, max_rows integer default 20)
returns table (at timestamptz, job_id bigint, attempt integer, kind text, queue text, worker_id text, message text, is_final boolean)
language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select u.* from (
    (select f.finished_at, f.id, f.attempt, f.kind, f.queue, f.worker_id, leasehold.describe_error(f.error), true
       from leasehold.finished_jobs f where f.finished_at >= list_failures.since and f.state = 'failed'
      order by f.finished_at desc limit list_failures.max_rows)
    union all
    select e.at, e.job_id, e.attempt, j.kind, j.queue, e.worker_id, e.message, false
      from (select * from leasehold.job_events e
             where e.at >= list_failures.since and e.event in ('attempt_failed', 'reaped')
             order by e.at desc limit list_failures.max_rows) e
      left join lateral (select o.kind, o.queue from leasehold.jobs o where o.id = e.job_id
                         union all
                         select f.kind, f.queue from leasehold.finished_jobs f where f.id = e.job_id
                         limit 1) j on true
    ) u(at, job_id, attempt, kind, queue, worker_id, message, is_final)
 order by u.at desc, u.job_id desc limit list_failures.max_rows
$$;
