-- Purpose     Make the daily partitions of finished_jobs, job_events and job_logs from today to `days_ahead`. Rows
--             that fell into the default partition, because the partition of their day was not made in time, are
--             moved. What somebody else uses, or already makes, is left for the next call, so that nobody queues up
--             behind this one.
-- Parameters  days_ahead: 0 to 400
-- Returns     how many partitions were made
-- Errors      LH001 days_ahead out of range
-- Tables      an advisory lock, then finished_jobs, job_events and job_logs (short exclusive locks, waited for 0.2 s at the most)
create or replace function leasehold.ensure_partitions(days_ahead integer default 7) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '200ms' as $$
declare
    v_made   integer := 0;
    v_parent text;
    v_column text;
    v_name   text;
    v_day    date;
begin
    if coalesce(ensure_partitions.days_ahead, -1) not between 0 and 400 then
        raise exception using errcode = 'LH001', message = format('days_ahead must be from 0 to 400, not %s', coalesce(days_ahead::text, 'null'));
    end if;
    if not pg_try_advisory_xact_lock(hashtextextended('leasehold partitions', 0)) then
        return 0;
    end if;
    for v_parent, v_column in values ('finished_jobs', 'finished_at'), ('job_events', 'at'), ('job_logs', 'at') loop
        for v_day in select generate_series(leasehold.clock()::date, leasehold.clock()::date + days_ahead, '1 day')::date loop
            v_name := v_parent || '_' || to_char(v_day, 'YYYYMMDD');
            continue when to_regclass('leasehold.' || v_name) is not null;
            begin
                -- Writers wait at the table, not at its default partition: one that had already chosen that would be refused.
                execute format('lock table leasehold.%I in share row exclusive mode', v_parent);
                execute format('create table leasehold.%I (like leasehold.%I including defaults including constraints)', v_name, v_parent);
                execute format('with late as (delete from leasehold.%1$I where %2$I >= %3$L and %2$I < %4$L returning *)
                                insert into leasehold.%5$I select * from late',
                               v_parent || '_default', v_column, v_day, v_day + 1, v_name);
                execute format('alter table leasehold.%I attach partition leasehold.%I for values from (%L) to (%L)',
                               v_parent, v_name, v_day, v_day + 1);
            exception when lock_not_available then
                return v_made;
            end;
            v_made := v_made + 1;
        end loop;
    end loop;
    return v_made;
end
$$;
