-- Purpose     List everything that happened to one job, oldest first.
-- Parameters  job_id
-- Returns     rows of job_timeline
-- Errors      none
-- Tables      jobs, finished_jobs, job_events (read)
create or replace function leasehold.get_job_timeline(job_id bigint) returns setof leasehold.job_timeline language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select * from leasehold.job_timeline t where t.job_id = get_job_timeline.job_id
 order by t.at, t.attempt, array_position(
    '{created,unblocked,claimed,started,attempt_failed,rescheduled,released,blocked,reaped,demoted,due,promoted,completed,failed,cancelled,edited,retried}', t.event)
$$;
