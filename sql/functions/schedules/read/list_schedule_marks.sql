-- Purpose     Show of every schedule what changes when somebody changes it and when it fires, for readers that compare
--             it with what they saw a moment ago.
-- Parameters  none
-- Returns     schedule_id, name, definition: differs after a change of what it is or whether it runs · runs: differs after each tick
--             and each run by hand
-- Errors      none
-- Tables      schedules (read whole: there are hundreds)
create or replace function leasehold.list_schedule_marks()
returns table (schedule_id bigint, name text, definition text, runs text) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
select s.id, s.name, concat_ws(' ', s.revision, s.enabled, s.orphaned_at, s.declared_by), concat_ws(' ', s.next_run_at, s.last_tick_at, s.last_run_at)
  from leasehold.schedules s
$$;
