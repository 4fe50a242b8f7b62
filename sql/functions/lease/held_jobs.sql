-- Purpose     List the jobs that a worker holds according to the database, so that the worker can compare them with
--             what it runs.
-- Parameters  incarnation
-- Returns     job_id and attempt of each
-- Errors      none
-- Tables      jobs (read)
create or replace function leasehold.held_jobs(incarnation uuid) returns table (job_id bigint, attempt integer) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select j.id, j.attempt from leasehold.jobs j
 where j.incarnation = held_jobs.incarnation and j.state in ('claimed', 'running')
$$;
