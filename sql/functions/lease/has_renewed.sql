-- Purpose     Tell whether an incarnation has claimed a job, or renewed the lease of one, that it still holds.
-- Parameters  incarnation: whose jobs · since: from when on
-- Returns     true or false
-- Errors      none
-- Tables      jobs (read: those that it holds, until one has been renewed)
create or replace function leasehold.has_renewed(incarnation uuid, since timestamptz) returns boolean language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select exists (select from leasehold.jobs j
                where j.incarnation = has_renewed.incarnation and j.state in ('claimed', 'running')
                  and coalesce(j.heartbeat_at, j.claimed_at) >= has_renewed.since)
$$;
