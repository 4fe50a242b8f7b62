-- Purpose     Show one job, finished or not.
-- Parameters  job_id
-- Returns     a row of all_jobs, or none
-- Errors      none
-- Tables      jobs, finished_jobs (read)
create or replace function leasehold.get_job(job_id bigint) returns setof leasehold.all_jobs language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select * from leasehold.all_jobs a where a.id = get_job.job_id order by a.finished_at desc nulls first limit 1
$$;
