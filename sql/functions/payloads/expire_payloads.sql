-- Purpose     Hide payloads from everybody, before their content is deleted. Whoever dies before delete_payloads leaves them to the
--             next round of retention.
-- Parameters  payload_ids
-- Returns     payload_id and location of those that are there, hidden before or not
-- Errors      none
-- Tables      payloads (update, in id order)
create or replace function leasehold.expire_payloads(payload_ids bigint[])
returns table (payload_id bigint, location text) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
with locked as materialized (
    select p.id from leasehold.payloads p where p.id = any (expire_payloads.payload_ids) order by p.id for update
)
update leasehold.payloads p set expired_at = coalesce(p.expired_at, leasehold.clock()) from locked l where p.id = l.id
returning p.id, p.location
$$;
