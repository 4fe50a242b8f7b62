-- Purpose     Make the partitions of finished_jobs, job_events and job_logs from today to `days_ahead`: one for each day,
--             or for several days where jobs are kept for so long that there would be more than sixty. Rows that fell into
--             the default partition, because the partition of their day was not made in time, are moved if they are 10,000
--             at the most. If they are more, that day gets no partition: to move them would hold up all completions. So would
--             a look through a large default partition: beside one, only days are made of which guard_default_partitions has
--             proved that it has no rows.
--             What somebody else uses, or already makes, is left for the next call, so that nobody queues up behind
--             this one. Also marks how far ids have come today.
-- Parameters  days_ahead: 0 to 400 · keep_days: how long jobs are kept, at least 1 · most: partitions to make in this call
--             (each takes a dozen entries of the lock table)
-- Returns     how many partitions were made; call it until it is 0
-- Errors      LH001 days_ahead or keep_days out of range
-- Tables      an advisory lock, id_marks, then finished_jobs, job_events and job_logs (short exclusive locks, waited for 0.2 s at the most)
create or replace function leasehold.ensure_partitions(days_ahead integer default 7, keep_days integer default 1, most integer default 60)
returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '200ms' as $$
declare
    c_movable constant integer := 10000;
    v_today  date := leasehold.clock()::date;
    v_days   integer := ceil(ensure_partitions.keep_days / 60.0);
    v_made   integer := 0;
    v_parent text;
    v_column text;
    v_proved date;
    v_name   text;
    v_day    date;
    v_until  date;
    v_next   date;
    v_strays bigint;
begin
    if coalesce(ensure_partitions.days_ahead, -1) not between 0 and 400 then
        raise exception using errcode = 'LH001', message = format('days_ahead must be from 0 to 400, not %s', coalesce(days_ahead::text, 'null'));
    end if;
    if coalesce(ensure_partitions.keep_days, 0) < 1 then
        raise exception using errcode = 'LH001', message = format('keep_days must be 1 or more, not %s', coalesce(keep_days::text, 'null'));
    end if;
    if not pg_try_advisory_xact_lock(hashtextextended('leasehold partitions', 0)) then
        return 0;
    end if;
    insert into leasehold.id_marks as m (last_id, taken_at)
    select s.last_value - (not s.is_called)::integer, leasehold.clock() from leasehold.jobs_id_seq s
     where not exists (select from leasehold.id_marks m where m.taken_at >= v_today)
    on conflict (last_id) do update set taken_at = excluded.taken_at;
    for v_parent, v_column, v_proved in
        select p.parent, p.clocked_by, case when not p.is_large then v_today when p.is_proved then p.guarded_from::date else 'infinity' end
          from leasehold.list_default_partitions() p
         order by p.parent
    loop
        v_day := greatest(v_today, v_proved);
        while v_day <= v_today + days_ahead and v_made < most loop
            v_next := (select max(p.until)::date from leasehold.list_partitions() p where p.parent = v_parent and p.since <= v_day and p.until > v_day);
            if v_next is not null then
                v_day := v_next;
                continue;
            end if;
            -- Partitions of several days begin where the count of days is divisible, so that they fit whenever they are made.
            v_until := least(v_day + v_days - (v_day - date '2000-01-03') % v_days,
                             (select min(p.since)::date from leasehold.list_partitions() p where p.parent = v_parent and p.since > v_day));
            v_strays := 0;
            if v_proved <= v_today then
                execute format('select count(*) from (select from leasehold.%I where %I >= $1 and %2$I < $2 limit $3) s', v_parent || '_default', v_column)
                   into v_strays using v_day, v_until, c_movable + 1;
            end if;
            if v_strays > c_movable and v_until > v_day + 1 then
                v_until := v_day + 1;
                execute format('select count(*) from (select from leasehold.%I where %I >= $1 and %2$I < $2 limit $3) s', v_parent || '_default', v_column)
                   into v_strays using v_day, v_until, c_movable + 1;
            end if;
            v_name := v_parent || '_' || to_char(v_day, 'YYYYMMDD');
            if v_strays > c_movable or to_regclass('leasehold.' || v_name) is not null then  -- somebody has detached it
                v_day := v_day + 1;
                continue;
            end if;
            begin
                -- Of a day to come nobody writes rows. Of today writers wait at the table, not at its default partition: one
                -- that had already chosen that would be refused.
                if v_day <= v_today or v_strays > 0 then
                    execute format('lock table leasehold.%I in share row exclusive mode', v_parent);
                end if;
                execute format('create table leasehold.%I (like leasehold.%I including defaults including constraints)', v_name, v_parent);
                if v_day <= v_today or v_strays > 0 then
                    execute format('with late as (delete from leasehold.%1$I where %2$I >= %3$L and %2$I < %4$L returning *)
                                    insert into leasehold.%5$I select * from late',
                                   v_parent || '_default', v_column, v_day, v_until, v_name);
                end if;
                execute format('alter table leasehold.%I attach partition leasehold.%I for values from (%L) to (%L)', v_parent, v_name, v_day, v_until);
            exception when lock_not_available then
                return v_made;
            end;
            v_made := v_made + 1;
            v_day := v_until;
        end loop;
    end loop;
    return v_made;
end
$$;
