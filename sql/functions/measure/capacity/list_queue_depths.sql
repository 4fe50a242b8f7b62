-- Purpose     Count the jobs of each queue in each state, without ever counting a big table. Small tables are counted
--             now; of a big one the accountant's last count is given, also of finished jobs; where there is none of those that
--             is younger than ten minutes, they are summed up from the rollups. Where that count found no pending jobs in a
--             queue that has some, these are counted now, up to a thousand: a look into the index tells it.
-- Parameters  only_queue: only this one; null: all
-- Returns     queue, state, jobs; only what there is · is_exact: counted just now · counted_at: when · is_partial: the count ended
--             at a thousand, there may be more
-- Errors      none
-- Tables      jobs, finished_jobs (read while they are small), queue_depths, depth_counts, finished_depths,
--             finished_counts, rollups, rollup_progress (read)
create or replace function leasehold.list_queue_depths(only_queue text default null)
returns table (queue text, state text, jobs bigint, is_exact boolean, counted_at timestamptz, is_partial boolean) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set plan_cache_mode = force_custom_plan set jit = off
set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_all     boolean := list_queue_depths.only_queue is null;
    v_now     timestamptz := leasehold.clock();
    v_counted timestamptz;
    v_rolled  timestamptz;
    v_summed  timestamptz;
begin
    if not leasehold.is_small('jobs') then
        select c.counted_at into v_counted from leasehold.depth_counts c;
    end if;
    if not leasehold.is_small('finished_jobs') then
        select p.rolled_until into v_rolled from leasehold.rollup_progress p;
        select c.counted_at into v_summed from leasehold.finished_counts c where c.counted_at > v_now - interval '10 minutes';
    end if;
    if v_counted is not null then
        return query select d.queue, d.state, d.jobs, false, v_counted, false from leasehold.queue_depths d where v_all or d.queue = list_queue_depths.only_queue;
        return query
        with recursive busy(queue) as (
            (select j.queue from leasehold.jobs j
              where j.state = 'pending' and (v_all or j.queue = list_queue_depths.only_queue) order by j.queue limit 1)
            union all
            select n.queue from busy b
             cross join lateral (select j.queue from leasehold.jobs j where j.state = 'pending' and j.queue > b.queue order by j.queue limit 1) n
             where v_all
        )
        select b.queue, 'pending', c.jobs, false, v_now, c.jobs = 1000
          -- Offset: only these are counted.
          from (select u.queue from busy u
                 where not exists (select from leasehold.queue_depths d where d.queue = u.queue and d.state = 'pending') offset 0) b
         cross join lateral (select count(*) as jobs
                               from (select from leasehold.jobs j where j.state = 'pending' and j.queue = b.queue order by j.kind limit 1000) j) c;
    else
        return query select j.queue, j.state, count(*), true, v_now, false from leasehold.jobs j where v_all or j.queue = list_queue_depths.only_queue group by 1, 2;
    end if;
    if v_summed is not null then
        return query select d.queue, d.state, d.jobs, false, v_summed, false from leasehold.finished_depths d where v_all or d.queue = list_queue_depths.only_queue;
    elsif v_rolled is not null then
        return query
        select r.queue, s.state, sum(s.jobs)::bigint, false, v_rolled, false
          from leasehold.rollups r
         cross join lateral (values ('completed', r.completed), ('failed', r.failed), ('cancelled', r.cancelled)) s(state, jobs)
         where v_all or r.queue = list_queue_depths.only_queue
         group by 1, 2 having sum(s.jobs) > 0;
    else
        return query select f.queue, f.state, count(*), true, v_now, false from leasehold.finished_jobs f where v_all or f.queue = list_queue_depths.only_queue group by 1, 2;
    end if;
end
$$;
