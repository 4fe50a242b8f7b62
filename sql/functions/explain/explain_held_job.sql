-- Purpose     Explain a job that a worker holds, for explain_job.
-- Parameters  job: the job
-- Returns     as explain_job
-- Errors      none
-- Tables      job_progress, workers, as list_row_holders (read)
create or replace function leasehold.explain_held_job(job leasehold.all_jobs)
returns table (reason text, explanation text, until timestamptz, facts jsonb) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off set enable_seqscan = off as $$
select case when e.is_over then 'stale' else job.state end,
       case when e.is_over
            then format('the lease of attempt %s on worker %s ran out at %s', job.attempt, job.worker_id, date_trunc('second', job.lease_expires_at))
                 || coalesce(', and it cannot be taken back: ' || s.holders, '; the next round of a reaper takes it back')
            when job.state = 'running'
            then format('attempt %s runs on worker %s since %s', job.attempt, job.worker_id, date_trunc('second', job.started_at))
                 || coalesce(', ' || round((p.fraction * 100)::numeric) || ' % done', '') || coalesce(' (' || p.message || ')', '')
            else format('worker %s has fetched it at %s and starts it when a slot is free, or has just started it', job.worker_id,
                        date_trunc('second', job.claimed_at)) end
       || case when not e.is_over and w.stopped_at is not null then format('; but that worker stopped at %s', date_trunc('second', w.stopped_at))
               when not e.is_over and w.is_silent
               then format('; but nothing was heard of that worker since %s', date_trunc('second', w.heartbeat_at)) else '' end
       || case when not e.is_over and (w.stopped_at is not null or w.is_silent)
               then format(', and when the lease runs out at %s the job is taken back', date_trunc('second', job.lease_expires_at)) else '' end,
       case when e.is_over then e.at when w.stopped_at is not null or w.is_silent then job.lease_expires_at end,
       jsonb_build_object('worker_id', job.worker_id, 'incarnation', job.incarnation, 'attempt', job.attempt, 'claimed_at', job.claimed_at,
                          'started_at', job.started_at, 'lease_expires_at', job.lease_expires_at, 'fraction', p.fraction, 'message', p.message,
                          'heard_of_at', w.heartbeat_at, 'row_held_by', s.holders)
  from (select c.at, job.lease_expires_at <= c.at as is_over from (select leasehold.clock() as at) c) e
  left join lateral (select leasehold.describe_row_holders(job.id) as holders where e.is_over) s on true
  left join leasehold.job_progress p on p.job_id = job.id and p.attempt = job.attempt
  left join lateral (select s.*, s.stopped_at is null and not leasehold.is_alive(s, e.at) as is_silent
                       from leasehold.workers s where s.incarnation = job.incarnation) w on true
$$;
