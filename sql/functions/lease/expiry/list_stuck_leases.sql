-- Purpose     List jobs whose lease has run out and that no reaper can take back, because a session holds the row: a
--             process that stands still, or a machine that has vanished, in the middle of a transaction.
-- Parameters  overdue: for how long the lease has run out at the least · batch: how many jobs at the most
-- Returns     a row for each job and session: job_id, attempt, worker_id, lease_expires_at, then pid, application_name and since as
--             list_row_holders; explanation: for people
-- Errors      none
-- Tables      jobs, as list_row_holders (read)
create or replace function leasehold.list_stuck_leases(overdue interval default '0', batch integer default 100)
returns table (
    job_id bigint, attempt integer, worker_id text, lease_expires_at timestamptz, pid integer, application_name text, since timestamptz, explanation text
) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off as $$
with expired as materialized (
    select j.id, j.attempt, j.worker_id, j.lease_expires_at
      from leasehold.jobs j
     where j.state in ('claimed', 'running') and j.lease_expires_at <= leasehold.clock() - list_stuck_leases.overdue
     order by j.lease_expires_at limit list_stuck_leases.batch
)
select e.id, e.attempt, e.worker_id, e.lease_expires_at, h.pid, h.application_name, h.since,
       format('the lease of attempt %s of job %s on worker %s ran out at %s, and it cannot be taken back: %s', e.attempt, e.id, e.worker_id,
              date_trunc('second', e.lease_expires_at), leasehold.describe_row_holders(e.id))
  from leasehold.list_row_holders(array(select x.id from expired x)) h join expired e on e.id = h.job_id
 order by e.lease_expires_at, e.id, h.pid
$$;
