-- Purpose     List the workers, those alive first. A worker that has gone silent (is_alive) is shown as stale, for a
--             day.
-- Parameters  stopped: show those that have ended, too, and all that were killed
-- Returns     rows of all_workers: what the worker said of itself, and active_job_ids: jobs it holds, running ones first, no more
--             than it has slots · state: ready, paused, draining, stale, stopped · backoff: why it claims nothing for now
--             missing_kinds: pending in its queues, and it has no handler · outdated: the last worker that started among those
--             with one of its queues and kinds has another version (echo and dummy, which all have, aside)
--             silent_for: seconds since the heartbeat · lost_wake_ups: jobs that it found by polling, though it listened
--             stray_handlers: how many still run in its slots although their jobs are gone
-- Errors      none
-- Tables      workers, jobs (read: an index entry for each pending kind and each held job)
create or replace function leasehold.list_workers(stopped boolean default false) returns setof leasehold.all_workers language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
select * from leasehold.all_workers w
 where list_workers.stopped or (w.stopped_at is null and w.silent_for < 86400)
 order by w.stopped_at nulls first, w.worker_id, w.started_at
$$;
