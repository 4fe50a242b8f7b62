-- Purpose     Show the definition of a schedule, with every field, as create_schedule and update_schedule take it.
-- Parameters  schedule: a row of schedules
-- Returns     a JSON object
-- Errors      none
-- Tables      none
create or replace function leasehold.describe_schedule(schedule leasehold.schedules) returns jsonb language sql stable
set search_path = leasehold, pg_catalog, pg_temp as $$
select jsonb_object_agg(f.key, f.value)
  from jsonb_each(to_jsonb(describe_schedule.schedule)) f where leasehold.complete_schedule('{"name": ""}') ? f.key
$$;
