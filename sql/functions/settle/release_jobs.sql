-- Purpose     Hand back jobs that were claimed and never started, or whose handler the worker has ended without an outcome.
--             They are pending again and the attempt does not count. Where a job was taken back meanwhile, the worker
--             has at least said that it did not die of it (clear_suspects).
-- Parameters  incarnation, job_ids, attempts: the identities
-- Returns     only the refused ones, with the reason
-- Errors      55P03 as return_jobs
-- Tables      as return_jobs
create or replace function leasehold.release_jobs(incarnation uuid, job_ids bigint[], attempts integer[])
returns table (job_id bigint, reason text) language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select * from leasehold.return_jobs(incarnation, job_ids, attempts, null, 'released', null)
$$;
