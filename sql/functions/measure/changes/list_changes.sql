-- Purpose     List what happened to jobs between two moments, in its order: their ends, and every transition of
--             job_events. Creation, claim and start stand in the rows of the ends; list_arrivals shows them for jobs
--             that have not ended.
-- Parameters  since, until: from this moment, before that one (null: up to now) · from_id: of what happened exactly at
--             `since`, only jobs from this id on, so that a reader goes on where a page ended; it gets the last row again
--             max_rows: at most
-- Returns     at, event (as in job_timeline), job_id, attempt, kind, queue, key, chain_id, worker_id, message, created_at,
--             claimed_at, started_at; ordered by at and job_id. kind and queue are null for a job that is gone.
-- Errors      none
-- Tables      job_events, finished_jobs, jobs (read)
create or replace function leasehold.list_changes(
    since timestamptz, until timestamptz default null, from_id bigint default 0, max_rows integer default 1000
) returns table (at timestamptz, event text, job_id bigint, attempt integer, kind text, queue text, key text, chain_id bigint,
                 worker_id text, message text, created_at timestamptz, claimed_at timestamptz, started_at timestamptz)
language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select c.* from (
    select e.at, e.event, e.job_id, e.attempt, coalesce(j.kind, e.detail ->> 'kind'), coalesce(j.queue, e.detail ->> 'queue'), j.key,
           coalesce(j.chain_id, e.job_id), e.worker_id, e.message, j.created_at, e.claimed_at, e.started_at
      from (select * from leasehold.job_events e
             where e.at >= list_changes.since and e.at < coalesce(list_changes.until, 'infinity')
               and (e.at, e.job_id) >= (list_changes.since, list_changes.from_id)
             order by e.at, e.job_id limit list_changes.max_rows) e
      left join lateral (select o.kind, o.queue, o.key, o.chain_id, o.created_at from leasehold.jobs o where o.id = e.job_id
                         union all
                         select f.kind, f.queue, f.key, f.chain_id, f.created_at from leasehold.finished_jobs f where f.id = e.job_id
                         limit 1) j on true
    union all
    (select f.finished_at, f.state, f.id, f.attempt, f.kind, f.queue, f.key, coalesce(f.chain_id, f.id), f.worker_id,
            case f.state when 'failed' then leasehold.describe_error(f.error) else f.error ->> 'message' end, f.created_at, f.claimed_at, f.started_at
       from leasehold.finished_jobs f
      where f.finished_at >= list_changes.since and f.finished_at < coalesce(list_changes.until, 'infinity')
        and (f.finished_at, f.id) >= (list_changes.since, list_changes.from_id)
      order by f.finished_at, f.id limit list_changes.max_rows)
    ) c(at, event, job_id, attempt, kind, queue, key, chain_id, worker_id, message, created_at, claimed_at, started_at)
 order by c.at, c.job_id, c.event in ('completed', 'failed', 'cancelled'), c.event limit list_changes.max_rows
$$;
