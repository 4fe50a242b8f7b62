-- Purpose     Whether a worker lives, as far as its rows tell: it has not said good-bye, it was heard of before two of its
--             heartbeats were missed (half of one is given as grace; three minutes where it never said how often it beats),
--             by a heartbeat or by a renewed lease, and since its last heartbeat no lease of it ran out or was taken back.
-- Parameters  worker: its row · at: now
-- Returns     true or false
-- Errors      none
-- Tables      jobs (read: an index entry for each job that it holds)
-- Callers     all_workers, all_commands, v_worker_capacity, measure_fleet, find_servers, find_worker, command_worker, explain_held_job
create or replace function leasehold.is_alive(worker leasehold.workers, at timestamptz) returns boolean language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select worker.stopped_at is null and coalesce(worker.lost_at <= worker.heartbeat_at, true)
       and greatest(worker.heartbeat_at, h.renewed_at) >= h.since and not h.ran_out
  from (select s.since, max(coalesce(j.heartbeat_at, j.claimed_at)) as renewed_at,
               coalesce(bool_or(j.lease_expires_at <= is_alive.at and j.lease_expires_at > worker.heartbeat_at), false) as ran_out
          from (select is_alive.at - make_interval(secs => coalesce(2.5 * worker.heartbeat_seconds, 180)) as since) s
          left join leasehold.jobs j on j.incarnation = worker.incarnation and j.state in ('claimed', 'running')
         group by s.since) h
$$;
