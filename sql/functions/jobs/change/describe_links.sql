-- Purpose     Say why a job cannot be deleted by itself: a worker holds it, or its chain has other jobs.
-- Parameters  job: the job, whose chain the caller has locked
-- Returns     a sentence; null: nothing
-- Errors      none
-- Tables      none
create or replace function leasehold.describe_links(job leasehold.all_jobs) returns text language sql immutable
set search_path = leasehold, pg_catalog, pg_temp as $$
select case when job.state in ('claimed', 'running') then format('job %s is %s and cannot be deleted: a worker holds it', job.id, job.state)
            when job.chain_id <> job.id or job.succeeded_by is not null
            then format('job %s cannot be deleted: chain %s has other jobs, too', job.id, job.chain_id) end
$$;
