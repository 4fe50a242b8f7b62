-- Purpose     Tell which of these claims took a job that chains had blocked until then, for workers where somebody
--             listens for that.
-- Parameters  job_ids, attempts: as claimed, each an array as long as the other
-- Returns     their ids
-- Errors      none
-- Tables      job_events (read)
create or replace function leasehold.list_unblocked_jobs(job_ids bigint[], attempts integer[]) returns table (job_id bigint)
language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select c.id from unnest(list_unblocked_jobs.job_ids, list_unblocked_jobs.attempts) c(id, attempt)
 where exists (select from leasehold.job_events e where e.job_id = c.id and e.event = 'unblocked' and e.attempt = c.attempt - 1)
$$;
