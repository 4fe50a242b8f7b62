-- Purpose     Tell whether somebody has an egress identity: an attempt that holds its job, or whoever took it for a time. It
--             looks with a snapshot of its own, so that a row just locked is judged by what is committed by now.
-- Parameters  identity: the row · at: the moment
-- Returns     whether it is leased then; a lease ends with the lease of the job, so a dead worker keeps no identity
-- Errors      none
-- Tables      jobs (read)
create or replace function leasehold.is_leased(identity leasehold.egress_identities, at timestamptz) returns boolean language sql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
select coalesce((is_leased.identity).lease_expires_at > is_leased.at, false) or exists (
    select from leasehold.jobs j
     where j.id = (is_leased.identity).leased_job and j.attempt = (is_leased.identity).leased_attempt
       and j.incarnation = (is_leased.identity).leased_incarnation and j.lease_expires_at > is_leased.at)
$$;
