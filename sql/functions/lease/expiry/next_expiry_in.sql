-- Purpose     Tell when the reaper has to look again.
-- Parameters  none
-- Returns     seconds until the earliest lease runs out or the earliest deadline passes (not below 0), null when there is none
-- Errors      none
-- Tables      jobs (read, held jobs and one deadline)
create or replace function leasehold.next_expiry_in() returns double precision language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
-- The deadline by order and limit: for min() a plan made when Postgres knew of none reads them all.
with next as materialized (
    select least((select min(j.lease_expires_at) from leasehold.jobs j where j.state in ('claimed', 'running')),
                 (select j.deadline from leasehold.jobs j where j.deadline is not null order by j.deadline limit 1)) as earliest
)
select greatest(0, extract(epoch from n.earliest - leasehold.clock()))::double precision from next n where n.earliest is not null
$$;
