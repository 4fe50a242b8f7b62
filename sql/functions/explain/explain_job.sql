-- Purpose     Explain why a job is not running: every reason with its facts, the weightiest first, and when the job
--             is expected to start. It locks nothing, and costs the same for a long queue as for a short one, because
--             it stops counting at 10,000.
-- Parameters  job_id
-- Returns     reason: one of completed, failed, cancelled, running, claimed, stale, blocked, scheduled, stranded, paused,
--                     unserved, key_held, key_line, limited, behind, busy, idle_worker, expected_start, suspect, deadline,
--                     chain
--             explanation: a sentence for people · until: when this reason is expected to end, null where nobody knows
--             facts: the same for programs
-- Errors      LH002 no such job
-- Tables      all_jobs, job_blockers, job_progress, queues, limits, rate_buckets, workers, finished_jobs (read)
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
        return query select * from leasehold.explain_finished_job(v_job);
        return;
    end if;
    if v_job.incarnation is not null then
        return query select * from leasehold.explain_held_job(v_job);
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
