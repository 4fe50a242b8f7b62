-- Purpose     Have the schedules planned anew that were planned or fired at times that have not come yet, because the clock of
--             the database was set back since. A tick that was made is not made again; what was only skipped there may still
--             come. So a schedule of fixed times runs once at each of them. One that repeats (`every`, or a cron expression whose
--             minutes or hours begin with *) goes on at once, as it does in the hour that clocks repeat in autumn: the ticks that it
--             made in the repeated time are kept as of some microseconds before, so that they come once more. An interval that
--             was to count from a time to come counts from as many intervals before.
-- Parameters  none
-- Returns     how many schedules are to be planned
-- Errors      none
-- Tables      schedules (rows locked, locked ones skipped), schedule_ticks
create or replace function leasehold.replan_schedules() returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_ids bigint[];
    v_now timestamptz;
begin
    -- The time is asked for each row, after what others have just fired is seen.
    v_ids := array(select s.id from leasehold.schedules s
                    where greatest(s.last_tick_at, s.planned_from, case when s.anchor is distinct from s.starts_at then s.anchor end) > leasehold.clock()
                      for update skip locked);
    v_now := leasehold.clock();
    if v_ids = '{}' then
        return 0;
    end if;
    delete from leasehold.schedule_ticks t
     where t.schedule_id = any (v_ids) and t.origin = 'timer' and t.outcome = 'skipped' and t.tick_at > v_now;
    -- No two ticks of a schedule lie within a millisecond, unless one of them was moved here before.
    update leasehold.schedule_ticks t
       set tick_at = t.tick_at - interval '1 microsecond' * (1 + (
               select count(*) from leasehold.schedule_ticks o
                where o.schedule_id = t.schedule_id and o.origin = 'timer' and o.tick_at >= t.tick_at - interval '1 ms' and o.tick_at < t.tick_at))
      from leasehold.schedules s
     cross join lateral (select regexp_split_to_array(btrim(s.cron), E'\\s+') as fields) f
     where s.id = any (v_ids) and t.schedule_id = s.id and t.origin = 'timer' and t.tick_at > v_now
       and (s.every is not null or f.fields[cardinality(f.fields) - 4] like '*%' or f.fields[cardinality(f.fields) - 3] like '*%'
            or lower(s.cron) like '%@hourly%')
       and not exists (select from leasehold.schedule_ticks o
                        where o.schedule_id = t.schedule_id and o.origin = 'timer' and o.tick_at > t.tick_at and o.tick_at <= t.tick_at + interval '1 ms');
    update leasehold.schedules s
       set revision = s.revision + 1, planned_revision = null, next_run_at = null, planned_from = least(s.planned_from, v_now),
           last_tick_at = case when s.last_tick_at > v_now then v_now else s.last_tick_at end,
           anchor = case when s.anchor > v_now and s.anchor is distinct from s.starts_at
                         then s.anchor - make_interval(secs => s.every * ceil(extract(epoch from s.anchor - v_now)::double precision / s.every))
                         else s.anchor end
     where s.id = any (v_ids);
    perform leasehold.send_notice('tick');
    return cardinality(v_ids);
end
$$;
