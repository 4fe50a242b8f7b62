-- Purpose     Sum up for everybody how many finished jobs are kept of each queue, if there are too many to count them at each
--             request. It does so seldom enough to take a hundredth of the time.
-- Parameters  none
-- Returns     seconds until it is worth calling again; null where somebody else is at it
-- Errors      none
-- Tables      an advisory lock, rollups (read), finished_depths, finished_counts
create or replace function leasehold.measure_finished() returns double precision language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set max_parallel_workers_per_gather = 0 as $$
declare
    v_now  timestamptz := leasehold.clock();
    v_left double precision;
begin
    if not pg_try_advisory_xact_lock(hashtextextended('leasehold accountant', 0)) then
        return null;
    end if;
    if leasehold.is_small('finished_jobs') then
        delete from leasehold.finished_counts;
        return 5;
    end if;
    select date_part('epoch', c.counted_at - v_now) + greatest(5, 100 * c.took) into v_left from leasehold.finished_counts c;
    if v_left > 0 then
        return v_left;
    end if;
    delete from leasehold.finished_depths;
    insert into leasehold.finished_depths (queue, state, jobs)
    select r.queue, s.state, sum(s.jobs)
      from leasehold.rollups r
     cross join lateral (values ('completed', r.completed), ('failed', r.failed), ('cancelled', r.cancelled)) s(state, jobs)
     group by 1, 2 having sum(s.jobs) > 0;
    delete from leasehold.finished_counts;
    insert into leasehold.finished_counts (counted_at, took) values (v_now, date_part('epoch', leasehold.clock() - v_now));
    return (select greatest(5, 100 * c.took) from leasehold.finished_counts c);
end
$$;
