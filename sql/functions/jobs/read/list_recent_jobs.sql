-- Purpose     List the jobs of a queue that finished last, newest first. The rollups tell in which minutes to look,
--             so a queue with few jobs among many others is read quickly, too.
-- Parameters  queue: which · state: only those that ended so · page_size: 1 to 100
-- Returns     rows of all_jobs
-- Errors      LH001 page_size or state out of range
-- Tables      finished_jobs, rollups, rollup_progress (read)
create or replace function leasehold.list_recent_jobs(queue text, state text default null, page_size integer default 20)
returns setof leasehold.all_jobs language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set plan_cache_mode = force_custom_plan set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_variable
declare
    v_is_small boolean := leasehold.is_small('finished_jobs');
    v_found    integer;
    v_span     record;
begin
    if coalesce(page_size, 0) not between 1 and 100 or state <> all ('{completed,failed,cancelled}') then
        raise exception using errcode = 'LH001', message = format('page_size must be from 1 to 100 and state that of a finished job, not %s and %L',
            coalesce(page_size::text, 'null'), state), hint = 'states: completed, failed, cancelled';
    end if;
    for v_span in
        select '-infinity'::timestamptz as since, 'infinity'::timestamptz as until where v_is_small
        union all
        (select p.rolled_until, 'infinity' from leasehold.rollup_progress p where not v_is_small)
        union all
        (select r.starts_at, r.starts_at + make_interval(secs => r.seconds)
           from leasehold.rollups r
          where not v_is_small and r.queue = list_recent_jobs.queue
            and case state when 'completed' then r.completed when 'failed' then r.failed when 'cancelled' then r.cancelled
                     else r.completed + r.failed + r.cancelled end > 0
          order by r.starts_at desc)
    loop
        return query
        select a.* from leasehold.all_jobs a
         where a.finished_at >= v_span.since and a.finished_at < v_span.until and a.queue = list_recent_jobs.queue
           and (list_recent_jobs.state is null or a.state = list_recent_jobs.state)
         order by a.finished_at desc, a.id desc limit page_size;
        get diagnostics v_found = row_count;
        page_size := page_size - v_found;
        exit when page_size <= 0;
    end loop;
end
$$;
