-- Purpose     When the reaper has to look again.
-- Parameters  none
-- Returns     seconds until the earliest lease runs out (not below 0), null when nothing is held
-- Errors      none
-- Tables      jobs (read, held jobs only)
-- Callers     the reaper
create or replace function leasehold.next_expiry_in() returns double precision language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select greatest(0, extract(epoch from m.earliest - leasehold.clock()))::double precision
  from (select min(j.lease_expires_at) as earliest from leasehold.jobs j where j.state in ('claimed', 'running')) m
 where m.earliest is not null
$$;
