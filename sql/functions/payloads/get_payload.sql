-- Purpose     Read what is known of a payload.
-- Parameters  payload_id
-- Returns     the row; none where no payload has this id, or it has expired
-- Errors      none
-- Tables      payloads (read)
create or replace function leasehold.get_payload(payload_id bigint) returns setof leasehold.payloads language sql stable
set search_path = leasehold, pg_catalog, pg_temp as $$
select p.* from leasehold.payloads p where p.id = get_payload.payload_id and p.expired_at is null
$$;
