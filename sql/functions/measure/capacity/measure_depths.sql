-- Purpose     Count the unfinished jobs for everybody, if there are too many to count them at each request. It counts
--             so seldom that it takes a hundredth of the time.
-- Parameters  none
-- Returns     seconds until it is worth calling again; null where somebody else is at it
-- Errors      none
-- Tables      an advisory lock, jobs (read), queue_depths, depth_counts
create or replace function leasehold.measure_depths() returns double precision language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set max_parallel_workers_per_gather = 0 as $$
declare
    v_now  timestamptz := leasehold.clock();
    v_left double precision;
begin
    if not pg_try_advisory_xact_lock(hashtextextended('leasehold accountant', 0)) then
        return null;
    end if;
    if leasehold.is_small('jobs') then
        delete from leasehold.depth_counts;
        return 5;
    end if;
    select date_part('epoch', c.counted_at - v_now) + greatest(5, 100 * c.took) into v_left from leasehold.depth_counts c;
    if v_left > 0 then
        return v_left;
    end if;
    delete from leasehold.queue_depths;
    insert into leasehold.queue_depths (queue, state, jobs) select j.queue, j.state, count(*) from leasehold.jobs j group by 1, 2;
    delete from leasehold.depth_counts;
    insert into leasehold.depth_counts (counted_at, took) values (v_now, date_part('epoch', leasehold.clock() - v_now));
    return (select greatest(5, 100 * c.took) from leasehold.depth_counts c);
end
$$;
