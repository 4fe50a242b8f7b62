-- Purpose     Show one schedule.
-- Parameters  name: its name, or its id
-- Returns     the row
-- Errors      LH002 there is none
-- Tables      schedules (read)
create or replace function leasehold.get_schedule(name text) returns leasehold.schedules language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select * from leasehold.find_schedule(get_schedule.name)
$$;
