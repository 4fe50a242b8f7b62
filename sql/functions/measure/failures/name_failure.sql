-- Purpose     Make the fingerprint of a failure: the same for one kind, one type of error and one place, whatever the
--             message. The number of the line is left out, so that a new release does not make a new group.
-- Parameters  kind · error: as fail_jobs was given it, whatever it holds
-- Returns     16 hexadecimal digits
-- Errors      none
-- Tables      none
create or replace function leasehold.name_failure(kind text, error jsonb) returns text language sql immutable parallel safe
set search_path = leasehold, pg_catalog, pg_temp as $$
select left(md5(jsonb_build_array(name_failure.kind, name_failure.error ->> 'type',
                                  regexp_replace(name_failure.error ->> 'place', ':[0-9]+ in ', ' in '))::text), 16)
$$;
