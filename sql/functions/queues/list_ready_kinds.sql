-- Purpose     List which kinds have pending jobs in each queue, and since when. It looks into the index once for each
--             queue, kind and priority that has jobs, however many there are.
-- Parameters  none
-- Returns     queue, kind · oldest_run_at: when the first of them was due
-- Errors      none
-- Tables      jobs (read)
create or replace function leasehold.list_ready_kinds()
returns table (queue text, kind text, oldest_run_at timestamptz) language sql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
with recursive heads as (
    (select j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group) as class, j.priority, j.run_at
       from leasehold.jobs j where j.state = 'pending'
      order by j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group), j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit 1)
    union all
    select n.* from heads h
     cross join lateral (
           (select j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group), j.priority, j.run_at
              from leasehold.jobs j
             where j.state = 'pending' and j.queue = h.queue and j.kind = h.kind
               and leasehold.lane_class(j.crashes, j.key_group) = h.class and j.priority < h.priority
             order by j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit 1)
           union all
           (select j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group), j.priority, j.run_at
              from leasehold.jobs j
             where j.state = 'pending' and (j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group)) > (h.queue, h.kind, h.class)
             order by j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group), j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit 1)
           limit 1) n
)
select h.queue, h.kind, min(h.run_at) from heads h group by h.queue, h.kind
$$;
