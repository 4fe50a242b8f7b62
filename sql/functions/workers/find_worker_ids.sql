-- Purpose     Find the ids of the workers that a filter of jobs means: a job keeps the id of its worker, and people know workers by
--             their friendly names. A worker that nobody remembers any more is found by its id alone.
-- Parameters  worker: id or friendly name, as a whole
-- Returns     what was given, and the ids of all workers that have it as their friendly name; null for null
-- Errors      none
-- Tables      workers (read)
create or replace function leasehold.find_worker_ids(worker text) returns text[] language sql stable strict
set search_path = leasehold, pg_catalog, pg_temp as $$
select array[find_worker_ids.worker]
       || array(select distinct w.worker_id from leasehold.workers w where w.name = find_worker_ids.worker and w.worker_id <> find_worker_ids.worker order by 1)
$$;
