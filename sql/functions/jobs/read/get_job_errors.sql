-- Purpose     List the errors of the attempts of a job, oldest first; none is lost by a retry.
-- Parameters  job_id
-- Returns     attempt, at, worker_id, and type, message and traceback of the error
-- Errors      LH002 no such job
-- Tables      jobs, finished_jobs, job_events (read)
create or replace function leasehold.get_job_errors(job_id bigint)
returns table (attempt integer, at timestamptz, worker_id text, type text, message text, traceback text) language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
begin
    if not exists (select from leasehold.get_job(get_job_errors.job_id)) then
        raise exception using errcode = 'LH002', message = format('there is no job %s', get_job_errors.job_id);
    end if;
    -- A job that failed for good because its lease ran out says so twice.
    return query
    select e.attempt, e.at, e.worker_id, e.detail ->> 'type', e.detail ->> 'message', e.detail ->> 'traceback'
      from (select distinct on (t.attempt, t.detail) t.* from leasehold.get_job_timeline(get_job_errors.job_id) t
             where t.event in ('attempt_failed', 'reaped', 'failed')
             order by t.attempt, t.detail, t.at, t.worker_id) e
     order by e.at, e.attempt;
end
$$;
