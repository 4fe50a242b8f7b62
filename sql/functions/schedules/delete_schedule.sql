-- Purpose     Remove a schedule and its ticks; the jobs that it made stay. Code that declares it makes it again; to
--             stop such a schedule, use disable_schedule.
-- Parameters  name: its name, or its id
-- Returns     whether there was one
-- Errors      none: the LH002 of find_schedule becomes false
-- Tables      schedules, schedule_ticks
create or replace function leasehold.delete_schedule(name text) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_found leasehold.schedules;
begin
    v_found := leasehold.find_schedule(delete_schedule.name, lock => true);
    delete from leasehold.schedules s where s.id = v_found.id;
    return true;
exception when sqlstate 'LH002' then
    return false;
end
$$;
