-- Purpose     Tell how much claim_jobs may take from lanes if one of them has limits. It takes the locks of the
--             limited queues, so that nobody else claims from them until this transaction ends, and asks share_limit.
--             A queue from which somebody else claims right now is passed over.
-- Parameters  queues, kinds, classes: the lanes (class: 0 plain jobs, 1 jobs with key groups) · opened: for each whether we share the
--             lock of its queue, as claims without limits do · batch: how many are wanted · passed: places to leave out
-- Returns     lanes with the number of jobs that each may give at the most; key_group where it is the lane of one group,
--             which has no class. A row without jobs names a queue that was passed over and is worth waiting for
-- Errors      none
-- Tables      advisory locks of queues (only tried), limits (read), as share_limit
create or replace function leasehold.limit_lanes(
    queues text[], kinds text[], classes integer[], opened boolean[], batch integer, passed tid[]
) returns table (queue text, kind text, class integer, key_group text, jobs integer) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_lanes record;
    v_busy  text;
begin
    for v_lanes in
        select l.queue, array_agg(l.kind) as kinds, array_agg(l.class) as classes, bool_and(l.is_open) as is_open
          from unnest(limit_lanes.queues, limit_lanes.kinds, limit_lanes.classes, limit_lanes.opened) l(queue, kind, class, is_open)
         group by l.queue order by l.queue
    loop
        if not (v_lanes.is_open and not exists (select from leasehold.limits m where m.queue = v_lanes.queue))
           and not pg_try_advisory_xact_lock(leasehold.queue_lock(v_lanes.queue)) then
            v_busy := v_lanes.queue;
        elsif exists (select from leasehold.queues q where q.queue = v_lanes.queue and q.paused_at is not null) then
            continue;  -- since the claim found its lanes
        elsif exists (select from leasehold.limits m where m.queue = v_lanes.queue) then
            -- Waiting for a queue is only for those who have none that comes later.
            v_busy := null;
            return query
            select v_lanes.queue, s.kind, s.class, s.key_group, s.jobs
              from leasehold.share_limit(v_lanes.queue, v_lanes.kinds, v_lanes.classes, limit_lanes.batch, limit_lanes.passed) s;
        else
            return query select v_lanes.queue, l.kind, l.class, null::text, limit_lanes.batch from unnest(v_lanes.kinds, v_lanes.classes) l(kind, class);
        end if;
    end loop;
    if v_busy is not null then
        return query select v_busy, null::text, null::integer, null::text, null::integer;
    end if;
end
$$;
