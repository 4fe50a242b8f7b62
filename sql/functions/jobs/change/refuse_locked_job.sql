-- Purpose     Raise the right error for a job that could not be locked in time, and name the session that holds it.
-- Parameters  job_id · wish: what was asked for, as a participle
-- Returns     never
-- Errors      LH008 another session holds the row of the job, or something else that the change needs
-- Tables      as list_row_holders
create or replace function leasehold.refuse_locked_job(job_id bigint, wish text) returns void language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
begin
    raise exception using errcode = 'LH008', message = format(
        'job %s cannot be %s now: %s', refuse_locked_job.job_id, refuse_locked_job.wish,
        coalesce(leasehold.describe_row_holders(refuse_locked_job.job_id),
                 'another session holds a lock that this needs, on the key of the job or on jobs that wait for it')),
        hint = 'try again, or end that session: select pg_terminate_backend(pid)';
end
$$;
