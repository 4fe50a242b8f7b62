-- Purpose     List the lines that a job's handlers logged, oldest first.
-- Parameters  job_id · attempt: of one attempt only, null for all
-- Returns     at, attempt, level, message, number: of the line, unique among all
-- Errors      none
-- Tables      job_logs (read)
create or replace function leasehold.get_job_logs(job_id bigint, attempt integer default null)
returns table (at timestamptz, attempt integer, level text, message text, number bigint) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select g.at, g.attempt, g.level, g.message, g.number from leasehold.job_logs g
 where g.job_id = get_job_logs.job_id and (get_job_logs.attempt is null or g.attempt = get_job_logs.attempt)
 order by g.at, g.number
$$;
