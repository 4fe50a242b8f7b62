-- Purpose     Run a failed or cancelled job once more, or a scheduled one now. The attempt count goes on; if the
--             attempts are used up, one more is allowed.
-- Parameters  job_id
-- Returns     its new state: pending, waiting behind its key, or blocked
-- Errors      LH002 no such job · LH004 it completed, or it is pending, waiting or held already
--             LH006 another job has its unique key now (its id is in the message and the detail)
-- Tables      jobs, as reopen_jobs, job_events (insert), keys as promote_waiting_jobs
create or replace function leasehold.retry_job(job_id bigint) returns text language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_now   timestamptz := leasehold.clock();
    v_again record;
begin
    with made_due as (
        update leasehold.jobs j set state = case when j.key is null then 'pending' else 'waiting' end, run_at = v_now, pending_at = null
         where j.id = retry_job.job_id and j.state = 'scheduled'
        returning j.id, j.key, j.queue, j.attempt
    ), noted as (
        insert into leasehold.job_events (job_id, at, event, attempt, message) select d.id, v_now, 'retried', d.attempt, 'by hand' from made_due d
    )
    select d.key, d.queue, null::bigint as holder into v_again from made_due d;
    if not found then
        select j.state into v_again from leasehold.jobs j where j.id = retry_job.job_id;
        if found then
            raise exception using errcode = 'LH004', message = format('job %s is %s and needs no retry', retry_job.job_id, v_again.state);
        end if;
        select r.key, r.queue, r.holder into v_again from leasehold.reopen_jobs(array[retry_job.job_id], 'by hand') r;
        if not found then
            perform leasehold.refuse_finished_job(retry_job.job_id, 'retried');
        end if;
    end if;
    if v_again.holder is not null then
        raise exception using errcode = 'LH006', detail = v_again.holder,
            message = format('job %s cannot be retried: job %s has its unique key now', retry_job.job_id, v_again.holder);
    end if;
    if v_again.key is not null then
        perform leasehold.promote_waiting_jobs(array[v_again.key]);
    else
        perform leasehold.wake_idle_workers(array[v_again.queue]);
    end if;
    return (select j.state from leasehold.jobs j where j.id = retry_job.job_id);
end
$$;
