-- Purpose     Make the jobs of a schedule now, whatever its policies say and even while it is disabled. Its ticks
--             stay as they are.
-- Parameters  name: its name, or its id · actor: who does it; null: the session's user · notify: wake idle workers at commit
-- Returns     tick_at: now · job_count, job_ids: what it made
-- Errors      LH001 its query fails, or gives something that is no job · LH002 there is no such schedule
-- Tables      as run_schedule
create or replace function leasehold.trigger_schedule(name text, actor text default null, notify boolean default true)
returns table (tick_at timestamptz, job_count integer, job_ids bigint[]) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    s     leasehold.schedules := leasehold.find_schedule(trigger_schedule.name);
    v_now timestamptz := leasehold.clock();
begin
    return query select r.tick_at, r.job_count, r.job_ids
                   from leasehold.run_schedule(s, 'trigger', v_now, v_now, s.stagger, s.batches, trigger_schedule.actor, trigger_schedule.notify) r;
end
$$;
