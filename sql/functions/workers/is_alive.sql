-- Purpose     Tell whether a worker lives, as far as its rows show. It lives if it has not stopped, if it was heard
--             of, by a heartbeat or a renewed lease, within two and a half of its heartbeats (three minutes if it
--             never said how often it beats), and if no job was taken back from it since its last heartbeat.
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
