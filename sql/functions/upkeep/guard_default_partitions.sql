-- Purpose     Prove that the default partitions have no rows of the days to come, where they are so large that
--             ensure_partitions must not look through them under its lock. A guard, a check constraint, keeps rows of the first
--             day that lacks a partition, the day after tomorrow or later, and of all after it out of a default partition; it
--             is added in one call and validated in the next, while rows come and go. Each call does one step. The caller
--             takes the guards away again with `days_ahead` 0, once ensure_partitions has made its partitions. If it dies
--             before, it is a day until a row could meet the guard, and most often a week; any call before that takes away a
--             guard whose day is near.
-- Parameters  days_ahead: 0 to 400, as for ensure_partitions; 0 means that no guards are needed
-- Returns     how many guards were added, validated or taken away; call it until it is 0
-- Errors      LH001 days_ahead out of range
-- Tables      an advisory lock, then the default partitions of finished_jobs, job_events and job_logs (short exclusive locks,
--             waited for 0.2 s at the most; to validate, one that holds up neither readers nor writers)
create or replace function leasehold.guard_default_partitions(days_ahead integer default 7) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '200ms' as $$
declare
    v_day    date := leasehold.clock()::date + 2;
    v_steps  integer := 0;
    v_guard  record;
    v_stray  boolean;
begin
    if coalesce(guard_default_partitions.days_ahead, -1) not between 0 and 400 then
        raise exception using errcode = 'LH001', message = format('days_ahead must be from 0 to 400, not %s', coalesce(days_ahead::text, 'null'));
    end if;
    if not pg_try_advisory_xact_lock(hashtextextended('leasehold partitions', 0)) then
        return 0;
    end if;
    for v_guard in
        select g.*, l.first_lacking, g.is_large and l.first_lacking is not null as is_needed
          from leasehold.list_default_partitions() g
         cross join lateral (
               select min(d)::date as first_lacking from generate_series(v_day, v_day + days_ahead - 2, interval '1 day') d
                where not exists (select from leasehold.list_partitions() p where p.parent = g.parent and p.since <= d and p.until > d)) l
         order by g.parent
    loop
        begin
            if v_guard.guarded_from is not null and (not v_guard.is_needed or v_guard.guarded_from < v_day) then
                execute format('alter table leasehold.%I drop constraint no_days_to_come', v_guard.name);
            elsif v_guard.is_needed and v_guard.guarded_from is null then
                execute format('select exists (select from leasehold.%I where %I >= $1)', v_guard.name, v_guard.clocked_by) into v_stray using v_guard.first_lacking;
                continue when v_stray;  -- the clock was wrong once
                execute format('alter table leasehold.%I add constraint no_days_to_come check (%I < %L) not valid',
                               v_guard.name, v_guard.clocked_by, v_guard.first_lacking::timestamptz);
            elsif v_guard.is_needed and not v_guard.is_proved then
                perform set_config('lock_timeout', '10s', true);  -- it waits for vacuum only, and nobody waits for it
                execute format('alter table leasehold.%I validate constraint no_days_to_come', v_guard.name);
                perform set_config('lock_timeout', '200ms', true);
            else
                continue;
            end if;
            v_steps := v_steps + 1;
        exception
            when lock_not_available then
                continue;
            when check_violation then
                execute format('alter table leasehold.%I drop constraint no_days_to_come', v_guard.name);
                v_steps := v_steps + 1;
        end;
    end loop;
    return v_steps;
end
$$;
