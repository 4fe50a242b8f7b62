-- Purpose     Find the newest failures of some hours: attempts that failed, leases that ran out, jobs that failed for good. It
--             reads no more than twice max_rows of them, whatever the tables hold.
-- Parameters  since, until: from this moment on, before that one · max_rows: the newest attempts by time, and the newest
--             jobs that failed for good by id
-- Returns     at, job_id, attempt, kind, queue, worker_id, error (without its traceback), is_final (the job has failed for
--             good), fingerprint (16 hexadecimal digits, the same for one kind, type of error and place),
--             is_full (max_rows was reached: there may be more); kind is null for a job that is gone · in no order
-- Errors      none
-- Tables      finished_jobs, job_events, jobs (read)
create or replace function leasehold.find_failures(
    since timestamptz, until timestamptz, max_rows integer
) returns table (at timestamptz, job_id bigint, attempt integer, kind text, queue text, worker_id text, error jsonb, is_final boolean,
                 fingerprint text, is_full boolean)
language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off
set enable_mergejoin = off set enable_nestloop = off as $$
-- Tracebacks are long and nobody asks for them here, so they are left out before anything is copied.
with ended as materialized (
    -- Whole days here, so that whole partitions are left out and the index is read no further than max_rows.
    select f.finished_at as at, f.id, f.attempt, f.kind, f.queue, f.worker_id,
           case jsonb_typeof(f.error) when 'object' then f.error - 'traceback' else f.error end as error
      from leasehold.finished_jobs f
     where f.state = 'failed' and f.finished_at >= date_trunc('day', find_failures.since, 'UTC')
     order by f.id desc limit find_failures.max_rows
), tried as materialized (
    select e.at, e.job_id as id, e.attempt, e.worker_id,
           case jsonb_typeof(e.detail) when 'object' then e.detail - 'traceback' else e.detail end as error
      from leasehold.job_events e
     where e.event in ('attempt_failed', 'reaped') and e.at >= find_failures.since and e.at < find_failures.until
     order by e.at desc limit find_failures.max_rows
), owners as materialized (
    -- A job fails many times and is looked up once, after its last failure, because it ended then or later; or not at all
    -- where it is one of those that ended.
    select t.id, coalesce(n.kind, j.kind) as kind, coalesce(n.queue, j.queue) as queue
      from (select r.id, max(r.at) as at from tried r group by r.id) t
      left join (select e.id, min(e.kind) as kind, min(e.queue) as queue from ended e group by e.id) n on n.id = t.id
      left join lateral (select o.kind, o.queue from leasehold.jobs o where o.id = t.id and n.id is null
                         union all
                         select f.kind, f.queue from leasehold.finished_jobs f where f.id = t.id and f.finished_at >= t.at and n.id is null
                         limit 1) j on true
), known as materialized (
    select k.*, k.error ->> 'type' as type, k.error ->> 'place' as place
      from (select t.at, t.id, t.attempt, o.kind, o.queue, t.worker_id, t.error, false as is_final
              from tried t join owners o on o.id = t.id
             -- A job that failed for good because its lease ran out is both.
             where not exists (select from ended n where n.id = t.id and n.attempt = t.attempt and n.at = t.at)
            union all
            select n.at, n.id, n.attempt, n.kind, n.queue, n.worker_id, n.error, true
              from ended n where n.at >= find_failures.since and n.at < find_failures.until) k
), named as materialized (
    -- Failures are many and their names are few: neither the message counts nor the number of the line, so that a new release
    -- does not make a new group.
    select n.*, left(md5(jsonb_build_array(n.kind, n.type, regexp_replace(n.place, ':[0-9]+ in ', ' in '))::text), 16) as fingerprint
      from (select distinct k.kind, k.type, k.place from known k) n
)
select k.at, k.id, k.attempt, k.kind, k.queue, k.worker_id, k.error, k.is_final, n.fingerprint,
       find_failures.max_rows <= greatest((select count(*) from ended), (select count(*) from tried))
  from known k
  join named n on (coalesce(n.kind, ''), coalesce(n.type, ''), coalesce(n.place, ''))
                = (coalesce(k.kind, ''), coalesce(k.type, ''), coalesce(k.place, ''))
   and (n.kind, n.type, n.place) is not distinct from (k.kind, k.type, k.place)
$$;
