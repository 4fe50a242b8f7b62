-- Purpose     Explain why a job is not running: every reason with its facts, the weightiest first, and when the job
--             is expected to start. It locks nothing, and costs the same for a long queue as for a short one, because
--             it stops counting at 10,000.
-- Parameters  job_id
-- Returns     reason: one of completed, failed, cancelled, running, claimed, stale, blocked, read_only, scheduled, stranded, paused,
--                     unserved, paused_workers, backing_off, key_held, key_line, limited, behind, busy, locked, idle_worker, expected_start, suspect,
--                     deadline, chain
--             explanation: a sentence for people · until: when this reason is expected to end, null where nobody knows
--             facts: the same for programs
-- Errors      LH002 no such job
-- Tables      all_jobs, job_blockers, job_progress, queues, limits, rate_buckets, workers, finished_jobs, as describe_row_holders and describe_queue_holders
--             (read)
create or replace function leasehold.explain_job(job_id bigint)
returns table (reason text, explanation text, until timestamptz, facts jsonb) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_job leasehold.all_jobs;
begin
    select * into v_job from leasehold.get_job(explain_job.job_id);
    if not found then
        raise exception using errcode = 'LH002', message = format('there is no job %s', explain_job.job_id);
    end if;
    if v_job.finished_at is not null then
        return query
        select v_job.state,
               case v_job.state
                   when 'completed' then format('it completed at %s in attempt %s', at.text, v_job.attempt)
                                         || coalesce(', and job ' || v_job.succeeded_by || ' continues its chain', '')
                   when 'failed' then format('it failed at %s in attempt %s', at.text, v_job.attempt)
                                      || case when v_job.spared_attempts = 0 then format(' of %s', v_job.max_attempts)
                                              else format(', of which %s of %s count', v_job.attempt - v_job.spared_attempts, v_job.max_attempts) end
                                      || coalesce(' (' || leasehold.describe_error(v_job.error) || ')', '')
                                      || '; a retry runs it again'
                   else format('it was cancelled at %s', at.text) || coalesce(': ' || (v_job.error ->> 'message'), '') || '; a retry runs it after all' end,
               null::timestamptz,
               jsonb_build_object('finished_at', v_job.finished_at, 'attempt', v_job.attempt, 'worker_id', v_job.worker_id,
                                  'error', case jsonb_typeof(v_job.error) when 'object' then v_job.error - 'traceback' else v_job.error end,
                                  'chain_id', v_job.chain_id, 'succeeded_by', v_job.succeeded_by)
          from (select date_trunc('second', v_job.finished_at)::text as text) at;
        return;
    end if;
    if v_job.incarnation is not null then
        return query
        select case when e.is_over then 'stale' else v_job.state end,
               case when e.is_over
                    then format('the lease of attempt %s on worker %s ran out at %s', v_job.attempt, v_job.worker_id, date_trunc('second', v_job.lease_expires_at))
                         || coalesce(', and it cannot be taken back: ' || s.holders, '; the next round of a reaper takes it back')
                    when v_job.state = 'running'
                    then format('attempt %s runs on worker %s since %s', v_job.attempt, v_job.worker_id, date_trunc('second', v_job.started_at))
                         || coalesce(', ' || round((p.fraction * 100)::numeric) || ' % done', '') || coalesce(' (' || p.message || ')', '')
                    else format('worker %s has fetched it at %s and starts it when a slot is free, or has just started it', v_job.worker_id,
                                date_trunc('second', v_job.claimed_at)) end
               || case when not e.is_over and w.stopped_at is not null then format('; but that worker stopped at %s', date_trunc('second', w.stopped_at))
                       when not e.is_over and w.is_silent
                       then format('; but nothing was heard of that worker since %s', date_trunc('second', w.heartbeat_at)) else '' end
               || case when not e.is_over and (w.stopped_at is not null or w.is_silent)
                       then format(', and when the lease runs out at %s the job is taken back', date_trunc('second', v_job.lease_expires_at)) else '' end,
               case when e.is_over then e.at when w.stopped_at is not null or w.is_silent then v_job.lease_expires_at end,
               jsonb_build_object('worker_id', v_job.worker_id, 'incarnation', v_job.incarnation, 'attempt', v_job.attempt, 'claimed_at', v_job.claimed_at,
                                  'started_at', v_job.started_at, 'lease_expires_at', v_job.lease_expires_at, 'fraction', p.fraction, 'message', p.message,
                                  'heard_of_at', w.heartbeat_at, 'row_held_by', s.holders)
          from (select c.at, v_job.lease_expires_at <= c.at as is_over from (select leasehold.clock() as at) c) e
          left join lateral (select leasehold.describe_row_holders(v_job.id) as holders where e.is_over) s on true
          left join leasehold.job_progress p on p.job_id = v_job.id and p.attempt = v_job.attempt
          left join lateral (select s.*, s.stopped_at is null and not leasehold.is_alive(s, e.at) as is_silent
                               from leasehold.workers s where s.incarnation = v_job.incarnation) w on true;
    else
        if v_job.state = 'blocked' then
            return query select * from leasehold.explain_blocked_job(v_job.id);
        end if;
        return query select * from leasehold.explain_waiting_job(v_job);
    end if;
    if v_job.deadline is not null then
        return query
        select 'deadline', format('unless it has ended by %s, it fails', date_trunc('second', v_job.deadline)), v_job.deadline,
               jsonb_build_object('deadline', v_job.deadline);
    end if;
    if v_job.chain_position > 0 then
        return query
        select 'chain', format('it continues chain %s, after %s job(s) of it', v_job.chain_id, v_job.chain_position), null::timestamptz,
               jsonb_build_object('chain_id', v_job.chain_id, 'chain_position', v_job.chain_position);
    end if;
end
$$;
