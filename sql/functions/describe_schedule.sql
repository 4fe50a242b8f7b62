-- Purpose     The definition of a schedule: what create_schedule and update_schedule take, with every field in it.
-- Parameters  schedule: a row of schedules
-- Returns     a JSON object
-- Errors      none
-- Tables      none
-- Callers     update_schedule, declare_schedule, clients, psql
create or replace function leasehold.describe_schedule(schedule leasehold.schedules) returns jsonb language sql stable
set search_path = leasehold, pg_catalog, pg_temp as $$
select to_jsonb(describe_schedule.schedule) - '{id,anchor,revision,planned_revision,planned_from,next_run_at,last_run_at,last_tick_at,last_job_count,last_error,declared,overridden,created_at,updated_at,updated_by}'::text[]
$$;
