-- Purpose     List what was said with the cancels of these jobs: a worker asks it for the handlers that it cancels.
-- Parameters  job_ids
-- Returns     a row for each attempt that was cancelled: its reason, and by whom where that is known
-- Errors      none
-- Tables      jobs, finished_jobs, job_events (read)
create or replace function leasehold.list_cancels(job_ids bigint[]) returns table (job_id bigint, attempt integer, reason text, cancelled_by text) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select t.job_id, t.attempt, t.message, t.actor from leasehold.job_timeline t where t.job_id = any (list_cancels.job_ids) and t.event = 'cancelled'
$$;
