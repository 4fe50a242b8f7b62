-- Purpose     Draw the number and the time of a payload that is about to be written. Its place in the store is named after both.
-- Parameters  none
-- Returns     payload_id: given out once · created_at: now
-- Errors      none
-- Tables      payloads (its sequence)
create or replace function leasehold.name_payload()
returns table (payload_id bigint, created_at timestamptz) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
select nextval('leasehold.payloads_id_seq'), leasehold.clock()
$$;
