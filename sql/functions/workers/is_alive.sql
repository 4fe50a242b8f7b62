-- Purpose     Tell whether a worker lives, as far as its rows show. It lives if it has not stopped, if it was heard
--             of, by a heartbeat or a renewed lease, within two and a half of its heartbeats (three minutes if it
--             never said how often it beats), and if no job was taken back from it since its last heartbeat. Where `at` is a
--             column or a variable, and no call, it becomes part of the query that asks.
-- Parameters  worker: its row · at: now
-- Returns     true or false
-- Errors      none
-- Tables      as has_renewed, where the heartbeat is too old
create or replace function leasehold.is_alive(worker leasehold.workers, at timestamptz) returns boolean language sql stable as $$
select worker.stopped_at is null and coalesce(worker.lost_at <= worker.heartbeat_at, true)
       and (worker.heartbeat_at >= at - pg_catalog.make_interval(secs => coalesce(2.5 * worker.heartbeat_seconds, 180))
            or leasehold.has_renewed(worker.incarnation, at - pg_catalog.make_interval(secs => coalesce(2.5 * worker.heartbeat_seconds, 180))))
$$;
