-- Purpose     Say that a worker is alive: one narrow heap-only update.
-- Parameters  incarnation · active_jobs: how many it runs · state: ready or draining · listening
-- Returns     whether the worker is known; if not, it registers again
-- Errors      none
-- Tables      workers
-- Callers     presence, workers in other languages
create or replace function leasehold.heartbeat_worker(incarnation uuid, active_jobs integer, state text, listening boolean)
returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    update leasehold.workers w
       set heartbeat_at = leasehold.clock(), active_jobs = heartbeat_worker.active_jobs, state = heartbeat_worker.state,
           listening = heartbeat_worker.listening
     where w.incarnation = heartbeat_worker.incarnation and w.stopped_at is null;
    return found;
end
$$;
