-- Purpose     Put the error of a job into one line for people.
-- Parameters  error: as fail_jobs was given it, whatever it holds
-- Returns     type: message (place), as much as there is; null where there is nothing
-- Errors      none
-- Tables      none
create or replace function leasehold.describe_error(error jsonb) returns text language sql immutable parallel safe
set search_path = leasehold, pg_catalog, pg_temp as $$
select nullif(case jsonb_typeof(describe_error.error)
                  when 'object' then concat_ws(': ', describe_error.error ->> 'type', left(describe_error.error ->> 'message', 1000))
                                     || coalesce(' (' || left(describe_error.error ->> 'place', 200) || ')', '')
                  when 'null' then null
                  else left(describe_error.error #>> '{}', 1000) end, '')
$$;
