-- Purpose     Cancel a job that has not finished. It is cancelled at once in any state; a running handler is told, and
--             whatever it still writes is refused.
-- Parameters  job_id · reason: for people
-- Returns     the state it was in
-- Errors      LH002 no such job · LH004 it has finished
-- Tables      jobs, finished_jobs, keys as promote_waiting_jobs
-- Callers     clients, psql
create or replace function leasehold.cancel_job(job_id bigint, reason text default null) returns text language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_now timestamptz := leasehold.clock();
    v_job leasehold.jobs;
begin
    delete from leasehold.jobs j where j.id = cancel_job.job_id returning j.* into v_job;
    if not found then
        perform leasehold.refuse_finished_job(cancel_job.job_id, 'cancelled');
    end if;
    insert into leasehold.finished_jobs (id, created_at, run_at, claimed_at, started_at, heartbeat_at, finished_at, incarnation,
           priority, attempt, spared_attempts, max_attempts, state, kind, queue, key, worker_id, args, metadata, error)
    values (v_job.id, v_job.created_at, v_job.run_at, v_job.claimed_at, v_job.started_at, v_job.heartbeat_at, v_now, v_job.incarnation,
           v_job.priority, v_job.attempt, v_job.spared_attempts, v_job.max_attempts, 'cancelled', v_job.kind, v_job.queue, v_job.key,
           v_job.worker_id, v_job.args, v_job.metadata,
           jsonb_build_object('type', 'Cancelled', 'message', coalesce(cancel_job.reason, 'cancelled by hand')));
    if v_job.key is not null and v_job.state not in ('waiting', 'scheduled') then
        perform leasehold.promote_waiting_jobs(array[v_job.key]);
    end if;
    if v_job.incarnation is not null then
        perform pg_notify('leasehold', format('lost:%s:%s:cancelled', v_job.id, v_job.attempt));
    end if;
    return v_job.state;
end
$$;
