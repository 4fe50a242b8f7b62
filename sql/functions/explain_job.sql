-- Purpose     Why a job is not running: every reason there is, with the facts, the weightiest first; and when it is expected
--             to start.
-- Parameters  job_id
-- Returns     reason: one of completed, failed, cancelled, running, claimed, stale, blocked, scheduled, key_held, key_line,
--                     paused, unserved, limited, suspect, deadline, behind, idle_worker, expected_start
--             explanation: a sentence for people · until: when this reason is expected to end, null where nobody knows
--             facts: the same for programs
-- Errors      LH002 no such job
-- Tables      all_jobs, job_blockers, job_progress, queues, limits, workers, finished_jobs (read)
-- Callers     clients, psql
create or replace function leasehold.explain_job(job_id bigint)
returns table (reason text, explanation text, until timestamptz, facts jsonb) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_now timestamptz := leasehold.clock();
    v_job leasehold.all_jobs;
begin
    select * into v_job from leasehold.get_job(explain_job.job_id);
    if not found then
        raise exception using errcode = 'LH002', message = format('there is no job %s', explain_job.job_id);
    end if;
    case
        when v_job.finished_at is not null then
            return query select * from leasehold.explain_finished_job(v_job);
        when v_job.incarnation is not null then
            return query select * from leasehold.explain_held_job(v_job);
        else
            if v_job.state = 'blocked' then
                return query select * from leasehold.explain_blocked_job(v_job.id);
            end if;
            return query select * from leasehold.explain_waiting_job(v_job);
    end case;
end
$$;
