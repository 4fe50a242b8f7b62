-- Purpose     List the first jobs of a lane, as a look into the claim index would, but from the marks of its priorities
--             on: entries of jobs that were claimed before are not read, even where vacuum cannot remove them.
-- Parameters  queue, kind, class: the lane · most: how many · passed: places to leave out, or null
--             locked: lock them, and pass over those that others have locked
-- Returns     the jobs, best first: place in the table, key, priority, since (its place in the line), id
-- Errors      none
-- Tables      lane_marks (read), jobs (read; with `locked` rows locked, locked ones skipped)
create or replace function leasehold.list_marked_jobs(queue text, kind text, class integer, most integer, passed tid[], locked boolean)
returns table (place tid, key text, priority integer, since timestamptz, id bigint) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_mark  record;
    v_above bigint := 2147483648;  -- below this priority nothing has been looked at
    v_left  integer := list_marked_jobs.most;
    v_got   integer;
begin
    -- By turns what lies above a mark, and what lies at its priority, from it on. The last round has no mark.
    for v_mark in
        select m.priority::bigint as priority, m.since, m.id from leasehold.lane_marks m
         where m.queue = list_marked_jobs.queue and m.kind = list_marked_jobs.kind and m.class = list_marked_jobs.class
        union all select -2147483649, 'infinity', 0 order by 1 desc
    loop
        if list_marked_jobs.locked then
            return query
            select j.ctid, j.key, j.priority, coalesce(j.pending_at, j.run_at), j.id from leasehold.jobs j
             where j.state = 'pending' and j.queue = list_marked_jobs.queue and j.kind = list_marked_jobs.kind
               and leasehold.lane_class(j.crashes, j.key_group) = list_marked_jobs.class
               and j.priority < v_above and j.priority > v_mark.priority and (list_marked_jobs.passed is null or j.ctid <> all (list_marked_jobs.passed))
             order by j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit v_left for update skip locked;
        else
            return query
            select j.ctid, j.key, j.priority, coalesce(j.pending_at, j.run_at), j.id from leasehold.jobs j
             where j.state = 'pending' and j.queue = list_marked_jobs.queue and j.kind = list_marked_jobs.kind
               and leasehold.lane_class(j.crashes, j.key_group) = list_marked_jobs.class
               and j.priority < v_above and j.priority > v_mark.priority and (list_marked_jobs.passed is null or j.ctid <> all (list_marked_jobs.passed))
             order by j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit v_left;
        end if;
        get diagnostics v_got = row_count;
        v_left := v_left - v_got;
        exit when v_left = 0 or v_mark.since = 'infinity';
        if list_marked_jobs.locked then
            return query
            select j.ctid, j.key, j.priority, coalesce(j.pending_at, j.run_at), j.id from leasehold.jobs j
             where j.state = 'pending' and j.queue = list_marked_jobs.queue and j.kind = list_marked_jobs.kind
               and leasehold.lane_class(j.crashes, j.key_group) = list_marked_jobs.class
               and j.priority = v_mark.priority and (coalesce(j.pending_at, j.run_at), j.id) >= (v_mark.since, v_mark.id)
               and (list_marked_jobs.passed is null or j.ctid <> all (list_marked_jobs.passed))
             order by j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit v_left for update skip locked;
        else
            return query
            select j.ctid, j.key, j.priority, coalesce(j.pending_at, j.run_at), j.id from leasehold.jobs j
             where j.state = 'pending' and j.queue = list_marked_jobs.queue and j.kind = list_marked_jobs.kind
               and leasehold.lane_class(j.crashes, j.key_group) = list_marked_jobs.class
               and j.priority = v_mark.priority and (coalesce(j.pending_at, j.run_at), j.id) >= (v_mark.since, v_mark.id)
               and (list_marked_jobs.passed is null or j.ctid <> all (list_marked_jobs.passed))
             order by j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit v_left;
        end if;
        get diagnostics v_got = row_count;
        v_left := v_left - v_got;
        exit when v_left = 0;
        v_above := v_mark.priority;
    end loop;
end
$$;
