-- Purpose     Remove the rows of hidden payloads whose content has been deleted.
-- Parameters  payload_ids: those that were hidden by expire_payloads or expire_old_payloads; others are left
-- Returns     how many were removed
-- Errors      none
-- Tables      payloads (delete)
create or replace function leasehold.delete_payloads(payload_ids bigint[]) returns bigint language sql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
with gone as (delete from leasehold.payloads p where p.id = any (delete_payloads.payload_ids) and p.expired_at is not null returning p.id)
select count(*) from gone
$$;
