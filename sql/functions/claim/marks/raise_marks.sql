-- Purpose     Set the marks of the lanes from which a claim has just locked jobs: the next claims begin at the first job
--             that is there now, or 200 ms ago, whichever comes first. claim_jobs calls it when it had to read many
--             entries of jobs that were claimed before. Where somebody else does so, it does nothing.
-- Parameters  places: of the locked jobs
-- Returns     nothing
-- Errors      none
-- Tables      advisory lock of marks (only tried), jobs (read), lane_marks
create or replace function leasehold.raise_marks(places tid[]) returns void language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    c_slack constant interval := '200 milliseconds';  -- an enqueueing transaction is rarely open for longer
    v_now   timestamptz := leasehold.clock();
    v_lane  record;
begin
    if not pg_try_advisory_xact_lock(hashtextextended('leasehold lane marks', 0)) then
        return;
    end if;
    -- The first job of a lane is not ours where others have locked some: if they roll back, these are there again.
    for v_lane in
        select l.queue, l.kind, l.class, l.priority, f.since, f.id
          from (select distinct j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group) as class, j.priority
                  from leasehold.jobs j where j.ctid = any (raise_marks.places)) l
          left join lateral (select m.since, m.id from leasehold.lane_marks m
                              where m.queue = l.queue and m.kind = l.kind and m.class = l.class and m.priority = l.priority) m on true
         cross join lateral (
               select coalesce(j.pending_at, j.run_at) as since, j.id from leasehold.jobs j
                where j.state = 'pending' and j.queue = l.queue and j.kind = l.kind
                  and leasehold.lane_class(j.crashes, j.key_group) = l.class and j.priority = l.priority
                  and (coalesce(j.pending_at, j.run_at), j.id) >= (coalesce(m.since, '-infinity'), coalesce(m.id, 0))
                order by coalesce(j.pending_at, j.run_at), j.id limit 1) f
    loop
        if v_lane.since > v_now - c_slack then
            v_lane.since := v_now - c_slack;
            v_lane.id := 0;
        end if;
        insert into leasehold.lane_marks as m (queue, kind, class, priority, since, id, next_look_at)
        values (v_lane.queue, v_lane.kind, v_lane.class, v_lane.priority, v_lane.since, v_lane.id, v_now)
        on conflict (queue, kind, class, priority) do update set since = excluded.since, id = excluded.id
         where (m.since, m.id) <> (excluded.since, excluded.id);
    end loop;
end
$$;
