-- Purpose     Refuse a caller whose epoch is over.
-- Parameters  known: its epoch
-- Returns     nothing
-- Errors      LH009 always
-- Tables      none
create or replace function leasehold.refuse_epoch(known bigint) returns void language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
begin
    raise exception using errcode = 'LH009', message = format('the database is not in epoch %s any more', refuse_epoch.known),
        hint = 'after a failover or a restore a worker takes a new incarnation; select * from leasehold.find_epoch() tells the epoch';
end
$$;
