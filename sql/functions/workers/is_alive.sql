-- Purpose     Whether a worker lives, as far as its rows tell: it has not said good-bye, it was heard of before two of its
--             heartbeats were missed (half of one is given as grace; three minutes where it never said how often it beats),
--             by a heartbeat or by a renewed lease, and since its last heartbeat no job was taken back from it.
-- Parameters  worker: its row · at: now
-- Returns     true or false
-- Errors      none
-- Tables      jobs (read: where the heartbeat is too old, the jobs that it holds, until one has been renewed)
create or replace function leasehold.is_alive(worker leasehold.workers, at timestamptz) returns boolean language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select worker.stopped_at is null and coalesce(worker.lost_at <= worker.heartbeat_at, true)
       and (worker.heartbeat_at >= s.since
            or exists (select from leasehold.jobs j
                        where j.incarnation = worker.incarnation and j.state in ('claimed', 'running')
                          and coalesce(j.heartbeat_at, j.claimed_at) >= s.since))
  from (select is_alive.at - make_interval(secs => coalesce(2.5 * worker.heartbeat_seconds, 180)) as since) s
$$;
