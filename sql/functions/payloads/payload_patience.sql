-- Purpose     Tell how long the content of a payload may take to be written: a file that is older and that no row names is an orphan.
-- Parameters  none
-- Returns     a day
-- Errors      none
-- Tables      none
create or replace function leasehold.payload_patience() returns interval language sql immutable
set search_path = leasehold, pg_catalog, pg_temp as $$
select interval '1 day'
$$;
