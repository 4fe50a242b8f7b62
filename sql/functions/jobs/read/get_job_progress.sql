-- Purpose     Show the progress of a job, as its handler last reported it.
-- Parameters  job_id
-- Returns     attempt, fraction (0 to 1 or null), message, at; nothing where no handler said anything
-- Errors      none
-- Tables      job_progress (read)
create or replace function leasehold.get_job_progress(job_id bigint)
returns table (attempt integer, fraction double precision, message text, at timestamptz) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select p.attempt, p.fraction, p.message, p.at from leasehold.job_progress p where p.job_id = get_job_progress.job_id
$$;
