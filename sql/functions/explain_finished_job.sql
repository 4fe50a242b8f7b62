-- Purpose     The part of explain_job for a job that has finished.
-- Parameters  job: the job
-- Returns     as explain_job
-- Errors      none
-- Tables      none
-- Callers     explain_job
create or replace function leasehold.explain_finished_job(job leasehold.all_jobs)
returns table (reason text, explanation text, until timestamptz, facts jsonb) language sql stable
set search_path = leasehold, pg_catalog, pg_temp as $$
select job.state,
       case job.state
           when 'completed' then format('it completed at %s in attempt %s', job.finished_at, job.attempt)
                                 || coalesce(format(' and job %s continued its chain', job.succeeded_by), '')
           when 'failed' then format('it failed at %s after attempt %s of %s (%s: %s); retry_job runs it again', job.finished_at, job.attempt,
                                     job.max_attempts + job.spared_attempts, job.error ->> 'type', job.error ->> 'message')
           else format('it was cancelled at %s: %s; retry_job runs it after all', job.finished_at, job.error ->> 'message') end,
       null::timestamptz,
       jsonb_build_object('finished_at', job.finished_at, 'attempt', job.attempt, 'worker_id', job.worker_id, 'error', job.error - 'traceback',
                          'succeeded_by', job.succeeded_by)
$$;
