-- Purpose     Let a schedule fire again. The ticks of the time while it was disabled do not count as missed.
-- Parameters  name: its name, or its id · actor: who does it; null: the session's user
-- Returns     whether it was disabled
-- Errors      LH002 there is none
-- Tables      as update_schedule
create or replace function leasehold.enable_schedule(name text, actor text default null) returns boolean language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select before.revision < (leasehold.update_schedule(before.name, '{"enabled": true}', null, enable_schedule.actor)).revision
  from leasehold.find_schedule(enable_schedule.name, true) before
$$;
