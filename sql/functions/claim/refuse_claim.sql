-- Purpose     Say what is wrong with a claim.
-- Parameters  incarnation, batch, lease, kind_leases: as claim_jobs
-- Returns     nothing
-- Errors      LH001 a parameter is missing or out of range · LH004 this transaction is stricter than read committed: it could not see
--             pauses that have committed, nor what others hold where there are limits
-- Tables      none
create or replace function leasehold.refuse_claim(incarnation uuid, batch integer, lease interval, kind_leases jsonb) returns void language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp as $$
begin
    if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
        raise exception using errcode = 'LH004', message = 'jobs can be claimed in read committed transactions only: a stricter one sees no pauses and limits that came later',
            hint = 'set transaction isolation level read committed; where the database has another default, set default_transaction_isolation for this session';
    end if;
    raise exception using errcode = 'LH001', message = case
        when incarnation is null then 'incarnation is missing'
        when (batch between 1 and 10000) is not true then format('batch must be from 1 to 10000, not %s', coalesce(batch::text, 'null'))
        when (lease > interval '0' and lease <= interval '100 years') is not true
        then format('lease must be more than 0 seconds and at most 100 years, not %s', coalesce(lease::text, 'null'))
        else format('kind_leases must be a JSON object from kind to seconds, more than 0 and at most 100 years, not %s', left(kind_leases::text, 200)) end;
end
$$;
