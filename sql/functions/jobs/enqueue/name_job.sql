-- Purpose     Begin a complaint about one job of an array: with its position, unless the array has only one.
-- Parameters  jobs: the array · place: of the job in it, from 1
-- Returns     empty text for an array of one, else `job N: `
-- Errors      none
-- Tables      none
create or replace function leasehold.name_job(jobs jsonb, place bigint) returns text language sql immutable parallel safe as $$
select case when jsonb_array_length(jobs) = 1 then '' else 'job ' || place || ': ' end
$$;
