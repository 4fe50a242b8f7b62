-- Purpose     The part of explain_job for a job that a worker holds.
-- Parameters  job: the job
-- Returns     as explain_job
-- Errors      none
-- Tables      job_progress (read)
-- Callers     explain_job
create or replace function leasehold.explain_held_job(job leasehold.all_jobs)
returns table (reason text, explanation text, until timestamptz, facts jsonb) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select case when job.lease_expires_at <= now.at then 'stale' else job.state end,
       case when job.lease_expires_at <= now.at
            then format('the lease of attempt %s on worker %s ran out at %s; a reaper takes it back on its next round', job.attempt, job.worker_id,
                        job.lease_expires_at)
            when job.state = 'running'
            then format('attempt %s runs on worker %s since %s', job.attempt, job.worker_id, job.started_at)
                 || coalesce(format(', %s %% done', round((p.fraction * 100)::numeric)), '') || coalesce(format(' (%s)', p.message), '')
            else format('worker %s has fetched it at %s and starts it when a slot is free, or has just started it', job.worker_id, job.claimed_at) end,
       case when job.lease_expires_at <= now.at then now.at end,
       jsonb_build_object('worker_id', job.worker_id, 'incarnation', job.incarnation, 'attempt', job.attempt, 'claimed_at', job.claimed_at,
                          'started_at', job.started_at, 'lease_expires_at', job.lease_expires_at, 'fraction', p.fraction, 'message', p.message)
  from (select leasehold.clock() as at) now
  left join leasehold.job_progress p on p.job_id = job.id and p.attempt = job.attempt
$$;
