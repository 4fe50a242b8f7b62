-- Purpose     List what is new among the jobs and workers that have not ended: created, claimed and started jobs, and
--             workers that came or went. It shows the present: what came and went between two looks is not in it.
-- Parameters  after_id: jobs with greater ids are new · since: claims, starts and workers from this moment on · max_rows: at
--             most, of each
-- Returns     at, event (created, claimed, started, worker_started, worker_stopped), job_id (null for workers), attempt,
--             kind, queue, key, chain_id, worker_id; and newest_id: the greatest id that a job has, in each row and in one
--             without event
-- Errors      none
-- Tables      jobs, finished_jobs, workers (read)
create or replace function leasehold.list_arrivals(after_id bigint, since timestamptz, max_rows integer default 1000)
returns table (at timestamptz, event text, job_id bigint, attempt integer, kind text, queue text, key text, chain_id bigint,
               worker_id text, newest_id bigint) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
with newest as (
    select greatest((select j.id from leasehold.jobs j order by j.id desc limit 1),
                    (select f.id from leasehold.finished_jobs f order by f.id desc limit 1), 0) as id
), created as (
    select j.* from leasehold.jobs j where j.id > list_arrivals.after_id order by j.id desc limit list_arrivals.max_rows
), held as (
    select j.* from leasehold.jobs j where j.state in ('claimed', 'running') and j.incarnation is not null
       and greatest(j.claimed_at, j.started_at) >= list_arrivals.since limit list_arrivals.max_rows
), arrived as (
    select c.created_at as at, 'created' as event, c.id, 0 as attempt, c.kind, c.queue, c.key, coalesce(c.chain_id, c.id) as chain_id, null::text as worker_id
      from created c
    union all
    select h.claimed_at, 'claimed', h.id, h.attempt, h.kind, h.queue, h.key, coalesce(h.chain_id, h.id), h.worker_id
      from held h where h.claimed_at >= list_arrivals.since
    union all
    select h.started_at, 'started', h.id, h.attempt, h.kind, h.queue, h.key, coalesce(h.chain_id, h.id), h.worker_id
      from held h where h.started_at >= list_arrivals.since
    union all
    (select w.started_at, 'worker_started', null, null, null, null, null, null, w.worker_id
       from leasehold.workers w where w.started_at >= list_arrivals.since limit list_arrivals.max_rows)
    union all
    (select w.stopped_at, 'worker_stopped', null, null, null, null, null, null, w.worker_id
       from leasehold.workers w where w.stopped_at >= list_arrivals.since limit list_arrivals.max_rows)
)
select a.*, n.id from newest n left join arrived a on true
 order by a.at, a.id, array_position('{created,claimed,started}', a.event)
$$;
