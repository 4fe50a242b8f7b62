-- Purpose     List the kinds with pending jobs that no worker will claim, those first that wait longest. A queue
--             whose workers are merely busy, held back or limited is not among them.
-- Parameters  most: count no more jobs of each than this
-- Returns     queue, kind · reason: paused (the queue), paused_workers (all that serve it), unserved (no live worker has both the queue
--             and the kind), as explain_job has them · jobs: pending, at the most `most`
--             oldest_run_at: when the first of them was due · waits_for: seconds since
-- Errors      none
-- Tables      queues, workers (read), jobs (read: as list_ready_kinds, and `most` index entries for each kind told)
create or replace function leasehold.list_unclaimed_kinds(most integer default 1000)
returns table (queue text, kind text, reason text, jobs bigint, oldest_run_at timestamptz, waits_for double precision) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
with live as materialized (
    -- Workers of one deployment are alike, so that there are few of these however many workers there are.
    select distinct w.queues, w.kinds, w.state = 'paused' as is_paused
      from leasehold.workers w cross join (select leasehold.clock() as now) t
     where w.state in ('ready', 'paused') and leasehold.is_alive(w, t.now)
), unclaimed as materialized (
    select r.queue, r.kind, r.oldest_run_at, case when q.queue is not null then 'paused' when s.is_paused then 'paused_workers' else 'unserved' end as reason
      from leasehold.list_ready_kinds() r
      left join leasehold.queues q on q.queue = r.queue and q.paused_at is not null
     cross join lateral (select bool_or(not l.is_paused) as is_served, bool_or(l.is_paused) as is_paused from live l
                          where (l.queues = '{}' or r.queue = any (l.queues)) and (l.kinds = '{}' or r.kind = any (l.kinds))) s
     where q.queue is not null or s.is_served is not true
)
select u.queue, u.kind, u.reason, c.jobs, u.oldest_run_at, greatest(0, date_part('epoch', leasehold.clock() - u.oldest_run_at))
  from unclaimed u
 cross join lateral (select count(*) as jobs
                       from (select from leasehold.jobs j where j.state = 'pending' and j.queue = u.queue and j.kind = u.kind
                              limit list_unclaimed_kinds.most) f) c
 order by u.oldest_run_at, u.queue, u.kind
$$;
