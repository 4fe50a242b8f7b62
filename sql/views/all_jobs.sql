-- Unfinished and finished jobs as one.
create or replace view leasehold.all_jobs as
select id, state, kind, queue, key, priority, args, null::jsonb as output, error, metadata,
       attempt, spared_attempts, max_attempts, created_at, run_at, claimed_at, started_at,
       null::timestamptz as finished_at, heartbeat_at, lease_expires_at, worker_id, incarnation,
       coalesce(chain_id, id) as chain_id, coalesce(chain_position, 0) as chain_position, null::bigint as succeeded_by,
       key_group, timeout, deadline, traceparent, coalesce(crashes, 0) as crashes
  from leasehold.jobs
union all
select id, state, kind, queue, key, priority, args, output, error, metadata,
       attempt, spared_attempts, max_attempts, created_at, run_at, claimed_at, started_at,
       finished_at, heartbeat_at, null::timestamptz as lease_expires_at, worker_id, incarnation,
       coalesce(chain_id, id) as chain_id, coalesce(chain_position, 0) as chain_position, succeeded_by,
       key_group, timeout, deadline, traceparent, coalesce(crashes, 0) as crashes
  from leasehold.finished_jobs;
