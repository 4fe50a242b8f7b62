-- Purpose     Run held jobs again later without counting the attempt, because the handler asked for it.
-- Parameters  incarnation, job_ids, attempts: the identities · delays: seconds from now · reasons: one for each, or null
--             run_ats: times, each instead of the delay in its place, which is null then; one that is past is now; or null
-- Returns     only the refused ones, with the reason
-- Errors      55P03 as return_jobs
-- Tables      as return_jobs
create or replace function leasehold.reschedule_jobs(
    incarnation uuid, job_ids bigint[], attempts integer[], delays double precision[], reasons text[] default null,
    run_ats timestamptz[] default null
) returns table (job_id bigint, reason text) language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select * from leasehold.return_jobs(incarnation, job_ids, attempts, delays, 'rescheduled', reasons, run_ats)
$$;
