-- Purpose     Report that a worker has ended in good order.
-- Parameters  incarnation
-- Returns     nothing
-- Errors      none
-- Tables      workers
create or replace function leasehold.stop_worker(incarnation uuid) returns void language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
update leasehold.workers w
   set state = 'stopped', stopped_at = leasehold.clock(), idle = false, active_jobs = 0, backoff = null, backoff_until = null
 where w.incarnation = stop_worker.incarnation
$$;
