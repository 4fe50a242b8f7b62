-- Purpose     Number the advisory lock that decides who may give a key away or demote a job of it. claim_jobs only
--             ever tries it; promote_waiting_jobs waits for it, in ascending order.
-- Parameters  key: the key of a job
-- Returns     a bigint; two keys may share one, which only makes them take turns
-- Errors      none
-- Tables      none
create or replace function leasehold.key_lock(key text) returns bigint
language sql immutable strict parallel safe as $$
select pg_catalog.hashtextextended($1, 7813308923471)
$$;
