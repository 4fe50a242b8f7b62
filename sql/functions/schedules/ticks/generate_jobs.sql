-- Purpose     Make the jobs of a schedule for a whole date by hand, spread in batches over its stagger window, or
--             over the day if it has batches and no window. Repeating it for the same date changes nothing.
-- Parameters  schedule: its name, or its id · batches: how many portions; null: as the schedule says, else all at once
--             date: in the schedule's zone; null: today · actor: who does it; null: the session's user
--             notify: wake idle workers at commit
-- Returns     tick_at: when that date begins · job_count, job_ids: what it made · is_new: false where it was done before
-- Errors      LH001 batches out of range, its query fails, or gives something that is no job · LH002 there is no such schedule
-- Tables      as run_schedule
create or replace function leasehold.generate_jobs(schedule text, batches integer default null, date date default null, actor text default null, notify boolean default true)
returns table (tick_at timestamptz, job_count integer, job_ids bigint[], is_new boolean) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    s         leasehold.schedules := leasehold.find_schedule(generate_jobs.schedule);
    v_date    date := coalesce(generate_jobs.date, (leasehold.clock() at time zone s.zone)::date);
    v_start   timestamptz := v_date::timestamp at time zone s.zone;
    v_batches integer := coalesce(generate_jobs.batches, s.batches);
    v_window  double precision := case when s.stagger > 0 then s.stagger
                                       when v_batches is not null and isfinite(v_date) then extract(epoch from (v_date + 1)::timestamp at time zone s.zone - v_start)
                                       else 0 end;
begin
    if v_batches not between 1 and 100000 then
        raise exception using errcode = 'LH001', message = format('batches must be from 1 to 100000, not %s', v_batches);
    elsif not isfinite(v_date) then
        raise exception using errcode = 'LH001', message = 'date must be finite';
    end if;
    return query select * from leasehold.run_schedule(s, 'generate', v_start, v_start, v_window, v_batches, generate_jobs.actor, generate_jobs.notify);
end
$$;
