-- Purpose     List the queues that are known: those with jobs, workers or limits, and those that are paused.
-- Parameters  none
-- Returns     queue · paused_at, pause_reason: null where it is not paused · counts: how many jobs it has in each state, as
--             list_queue_depths says · workers: how many live ones serve it · limits: how many are set
--             ageing_seconds: how long a job waits for one more priority, null for ever
--             unserved_kinds: with pending jobs here that no live worker serves; empty where it is paused
--             counted_at: when the oldest of the counts was made, null if all of them just now · is_partial: there may be more pending jobs
-- Errors      none
-- Tables      queues, limits, workers (read), as list_queue_depths and list_unclaimed_kinds
create or replace function leasehold.list_queues()
returns table (queue text, paused_at timestamptz, pause_reason text, counts jsonb, workers integer, limits integer,
                 ageing_seconds double precision, unserved_kinds text[], counted_at timestamptz, is_partial boolean) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
with counted as materialized (
    select d.queue, jsonb_object_agg(d.state, d.jobs) as counts, min(d.counted_at) filter (where not d.is_exact) as counted_at,
           bool_or(d.is_partial) as is_partial
      from leasehold.list_queue_depths() d group by d.queue
), limited as materialized (
    select l.queue, count(*)::integer as limits from leasehold.limits l group by l.queue
), live as materialized (
    select w.queues from leasehold.workers w cross join (select leasehold.clock() as now) t where leasehold.is_alive(w, t.now)
), unserved as materialized (
    select u.queue, array_agg(u.kind order by u.kind) as kinds from leasehold.list_unclaimed_kinds(1) u where u.reason = 'unserved' group by u.queue
), known(queue) as (
    select c.queue from counted c
    union select q.queue from leasehold.queues q
    union select l.queue from limited l
    union select unnest(w.queues) from live w
)
select k.queue, q.paused_at, case when q.paused_at is not null then q.reason end, coalesce(c.counts, '{}'),
       (select count(*)::integer from live w where w.queues = '{}' or k.queue = any (w.queues)),
       coalesce(l.limits, 0), extract(epoch from q.ageing)::double precision,
       coalesce(u.kinds, '{}'), c.counted_at, coalesce(c.is_partial, false)
  from known k
  left join leasehold.queues q on q.queue = k.queue
  left join counted c on c.queue = k.queue
  left join limited l on l.queue = k.queue
  left join unserved u on u.queue = k.queue
 order by k.queue
$$;
