-- Purpose     Tell how many attempts a job has for which neither its producer nor its kind says a number.
-- Parameters  none
-- Returns     20
-- Errors      none
-- Tables      none
create or replace function leasehold.default_attempts() returns integer language sql immutable parallel safe as $$
select 20
$$;
