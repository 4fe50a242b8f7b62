-- Purpose     Look for jobs behind the marks of lanes: those of transactions that were open for long when the mark was set.
--             A mark with such a job goes back to it. A mark that saves nothing any more, because vacuum has been
--             there, is dropped. Each mark is looked at again after fifty times what its look took, a second at the least,
--             and a call begins no look after half a second.
-- Parameters  none
-- Returns     how many marks went back
-- Errors      none
-- Tables      advisory lock of marks (only tried), jobs (read), lane_marks
create or replace function leasehold.look_behind_marks() returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    c_worth constant integer := 500;  -- entries that a mark has to save
    c_longest constant interval := '0.5 seconds';
    v_now   timestamptz := leasehold.clock();
    v_index oid := to_regclass('leasehold.jobs_pending');
    v_mark  leasehold.lane_marks;
    v_first record;
    v_dead  bigint;
    v_begun timestamptz;
    v_back  integer := 0;
begin
    if not pg_try_advisory_xact_lock(hashtextextended('leasehold lane marks', 0)) then
        return 0;
    end if;
    for v_mark in select m.* from leasehold.lane_marks m where m.next_look_at <= leasehold.clock() order by m.next_look_at limit 1000 loop
        v_begun := leasehold.clock();
        exit when v_begun > v_now + c_longest;
        v_dead := leasehold.count_dead_entries(v_index);
        select coalesce(j.pending_at, j.run_at) as since, j.id into v_first from leasehold.jobs j
         where j.state = 'pending' and j.queue = v_mark.queue and j.kind = v_mark.kind
           and leasehold.lane_class(j.crashes, j.key_group) = v_mark.class and j.priority = v_mark.priority
           and (coalesce(j.pending_at, j.run_at), j.id) < (v_mark.since, v_mark.id)
         order by j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit 1;
        if v_first.id is not null or leasehold.count_dead_entries(v_index) - v_dead >= c_worth then
            update leasehold.lane_marks m
               set since = coalesce(v_first.since, m.since), id = coalesce(v_first.id, m.id),
                   next_look_at = leasehold.clock() + greatest(interval '1 second', 50 * (leasehold.clock() - v_begun))
             where m.queue = v_mark.queue and m.kind = v_mark.kind and m.class = v_mark.class and m.priority = v_mark.priority;
            v_back := v_back + (v_first.id is not null)::integer;
        else
            delete from leasehold.lane_marks m
             where m.queue = v_mark.queue and m.kind = v_mark.kind and m.class = v_mark.class and m.priority = v_mark.priority;
        end if;
    end loop;
    return v_back;
end
$$;
