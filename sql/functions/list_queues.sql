-- Purpose     The queues that anybody knows of: with jobs, workers, limits, or paused.
-- Parameters  none
-- Returns     queue · paused_at, pause_reason: null where it is not paused · counts: how many jobs it has in each state, as
--             count_jobs says · workers: how many live ones serve it · limits: how many are set
--             ageing_seconds: how long a job waits for one more priority, null for ever
-- Errors      none
-- Tables      queues, limits, workers (read), as count_jobs
-- Callers     clients, psql
create or replace function leasehold.list_queues()
returns table (queue text, paused_at timestamptz, pause_reason text, counts jsonb, workers integer, limits integer,
                 ageing_seconds double precision) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
with counted as materialized (
    select c.queue, jsonb_object_agg(c.state, c.jobs) as counts from leasehold.count_jobs() c group by c.queue
), live as materialized (
    select w.queues from leasehold.list_workers() w where w.state not in ('stale', 'stopped')
), known(queue) as (
    select c.queue from counted c
    union select q.queue from leasehold.queues q
    union select l.queue from leasehold.limits l
    union select unnest(w.queues) from live w
)
select k.queue, q.paused_at, case when q.paused_at is not null then q.reason end, coalesce(c.counts, '{}'),
       (select count(*)::integer from live w where w.queues = '{}' or k.queue = any (w.queues)),
       (select count(*)::integer from leasehold.limits l where l.queue = k.queue), extract(epoch from q.ageing)::double precision
  from known k
  left join leasehold.queues q on q.queue = k.queue
  left join counted c on c.queue = k.queue
 order by k.queue
$$;
