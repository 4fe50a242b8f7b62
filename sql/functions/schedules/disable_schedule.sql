-- Purpose     Stop a schedule from firing until it is enabled. It can still be triggered by hand.
-- Parameters  name: its name, or its id · actor: who does it; null: the session's user
-- Returns     whether it was enabled
-- Errors      LH002 there is none
-- Tables      as update_schedule
create or replace function leasehold.disable_schedule(name text, actor text default null) returns boolean language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select before.revision < (leasehold.update_schedule(before.name, '{"enabled": false}', null, disable_schedule.actor)).revision
  from leasehold.find_schedule(disable_schedule.name, true) before
$$;
