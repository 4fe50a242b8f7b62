-- Purpose     Explain a job that has finished, for explain_job.
-- Parameters  job: the job
-- Returns     as explain_job
-- Errors      none
-- Tables      none
create or replace function leasehold.explain_finished_job(job leasehold.all_jobs)
returns table (reason text, explanation text, until timestamptz, facts jsonb) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' as $$
select job.state,
       case job.state
           when 'completed' then format('it completed at %s in attempt %s', at.text, job.attempt)
                                 || coalesce(', and job ' || job.succeeded_by || ' continues its chain', '')
           when 'failed' then format('it failed at %s in attempt %s', at.text, job.attempt)
                              || case when job.spared_attempts = 0 then format(' of %s', job.max_attempts)
                                      else format(', of which %s of %s count', job.attempt - job.spared_attempts, job.max_attempts) end
                              || coalesce(' (' || leasehold.describe_error(job.error) || ')', '')
                              || '; a retry runs it again'
           else format('it was cancelled at %s', at.text) || coalesce(': ' || (job.error ->> 'message'), '') || '; a retry runs it after all' end,
       null::timestamptz,
       jsonb_build_object('finished_at', job.finished_at, 'attempt', job.attempt, 'worker_id', job.worker_id,
                          'error', case jsonb_typeof(job.error) when 'object' then job.error - 'traceback' else job.error end,
                          'chain_id', job.chain_id, 'succeeded_by', job.succeeded_by)
  from (select date_trunc('second', job.finished_at)::text as text) at
$$;
