-- Purpose     Run a failed or cancelled job once more, or a scheduled one now. The attempt count goes on; where the
--             attempts are used up, one more is allowed.
-- Parameters  job_id
-- Returns     its new state: pending, or waiting behind its key
-- Errors      LH002 no such job · LH004 it completed, or it is pending, waiting or held already
-- Tables      jobs, finished_jobs, job_events (insert), keys as promote_waiting_jobs
-- Callers     clients, psql
create or replace function leasehold.retry_job(job_id bigint) returns text language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_now   timestamptz := leasehold.clock();
    v_job   leasehold.jobs;
    v_past  leasehold.finished_jobs;
    v_state text;
begin
    update leasehold.jobs j set state = case when j.key is null then 'pending' else 'waiting' end, run_at = v_now
     where j.id = retry_job.job_id and j.state = 'scheduled'
    returning j.* into v_job;
    if not found then
        select j.state into v_state from leasehold.jobs j where j.id = retry_job.job_id;
        if found then
            raise exception using errcode = 'LH004', message = format('job %s is %s and needs no retry', retry_job.job_id, v_state);
        end if;
        delete from leasehold.finished_jobs f where f.id = retry_job.job_id and f.state in ('failed', 'cancelled') returning f.* into v_past;
        if not found then
            perform leasehold.refuse_finished_job(retry_job.job_id, 'retried');
        end if;
        insert into leasehold.jobs (id, created_at, run_at, priority, attempt, spared_attempts, max_attempts, state, kind, queue, key,
               args, metadata, error)
        values (v_past.id, v_past.created_at, v_now, v_past.priority, v_past.attempt, v_past.spared_attempts,
               greatest(v_past.max_attempts, v_past.attempt - v_past.spared_attempts + 1),
               case when v_past.key is null then 'pending' else 'waiting' end, v_past.kind, v_past.queue, v_past.key,
               v_past.args, v_past.metadata, v_past.error)
        returning * into v_job;
    end if;
    if v_past.id is not null then
        insert into leasehold.job_events (job_id, at, event, attempt, claimed_at, started_at, worker_id, message, detail)
        values (v_past.id, v_past.finished_at, v_past.state, v_past.attempt, v_past.claimed_at, v_past.started_at, v_past.worker_id,
                v_past.error ->> 'message', v_past.error);
    end if;
    insert into leasehold.job_events (job_id, at, event, attempt, message)
    values (v_job.id, v_now, 'retried', v_job.attempt, 'by hand');
    if v_job.key is not null then
        perform leasehold.promote_waiting_jobs(array[v_job.key]);
    else
        perform leasehold.wake_idle_workers(array[v_job.queue]);
    end if;
    return (select j.state from leasehold.jobs j where j.id = retry_job.job_id);
end
$$;
