-- Purpose     The workers, those alive first. A worker whose heartbeat is older than three minutes is shown as stale.
-- Parameters  stopped: show those that have ended, too
-- Returns     worker_id, host, pid, version, queues, kinds, slots, active_jobs, state (ready, draining, stale, stopped),
--             started_at, heartbeat_at, incarnation, silent_for (seconds since the heartbeat)
-- Errors      none
-- Tables      workers (read)
-- Callers     clients, psql
create or replace function leasehold.list_workers(stopped boolean default false)
returns table (worker_id text, host text, pid integer, version text, queues text[], kinds text[], slots integer, active_jobs integer,
               state text, started_at timestamptz, heartbeat_at timestamptz, incarnation uuid, silent_for double precision) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
select w.worker_id, w.host, w.pid, w.version, w.queues, w.kinds, w.slots, w.active_jobs,
       case when w.state <> 'stopped' and w.heartbeat_at < t.now - interval '3 minutes' then 'stale' else w.state end,
       w.started_at, w.heartbeat_at, w.incarnation, extract(epoch from t.now - w.heartbeat_at)::double precision
  from leasehold.workers w cross join (select leasehold.clock() as now) t
 where list_workers.stopped or w.stopped_at is null
 order by w.stopped_at nulls first, w.worker_id, w.started_at
$$;
