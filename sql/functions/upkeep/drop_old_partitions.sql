-- Purpose     Remove finished jobs, events and logs that are older than `keep_days`, a whole partition at a time. What
--             somebody else uses, or already removes, is left for the next call, so that nobody queues up behind this
--             one. What belongs to those jobs in other tables is removed by drop_old_rows, which comes afterwards.
-- Parameters  keep_days: at least 1 · most: partitions to drop in this call (each takes a dozen entries of the lock table)
-- Returns     how many partitions were dropped; call it until it is 0
-- Errors      LH001 keep_days out of range
-- Tables      an advisory lock, id_marks, finished_jobs, job_events and job_logs (short exclusive locks, waited for 0.2 s at the most)
create or replace function leasehold.drop_old_partitions(keep_days integer, most integer default 30) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '200ms' as $$
declare
    v_dropped integer := 0;
    v_parent  text;
    v_name    text;
    v_busy    text;
    v_limit   date := leasehold.clock()::date - least(keep_days, 36500);
begin
    if drop_old_partitions.keep_days is null or keep_days < 1 then
        raise exception using errcode = 'LH001', message = format('keep_days must be 1 or more, not %s', coalesce(keep_days::text, 'null'));
    end if;
    if not pg_try_advisory_xact_lock(hashtextextended('leasehold partitions', 0)) then
        return 0;
    end if;
    delete from leasehold.id_marks m where m.taken_at < (select max(o.taken_at) from leasehold.id_marks o where o.taken_at < v_limit);
    for v_parent, v_name in
        select p.parent, p.name from leasehold.list_partitions() p where p.until <= v_limit order by p.parent, p.until limit drop_old_partitions.most
    loop
        continue when v_parent = v_busy;
        begin
            execute format('drop table leasehold.%I', v_name);
            v_dropped := v_dropped + 1;
        exception when lock_not_available then
            v_busy := v_parent;
        end;
    end loop;
    return v_dropped;
end
$$;
