-- Purpose     Cancel a job that has not finished. It is cancelled at once, in any state. A handler that runs it is
--             told, and what it still writes is refused.
-- Parameters  job_id · reason: for people
-- Returns     the state it was in
-- Errors      LH002 no such job · LH004 it has finished · LH008 another session has held its row for two seconds
-- Tables      jobs, finished_jobs, keys as promote_waiting_jobs
create or replace function leasehold.cancel_job(job_id bigint, reason text default null) returns text language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set lock_timeout = '2s' set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_now timestamptz := leasehold.clock();
    v_job leasehold.jobs;
    v_keys text[];
begin
    select * into v_job from leasehold.finish_jobs(
        array[cancel_job.job_id], 'cancelled',
        array[jsonb_strip_nulls(jsonb_build_object('type', 'Cancelled', 'message', coalesce(cancel_job.reason, 'cancelled by hand'),
                                                  'by', nullif(current_setting('leasehold.actor', true), '')))], null, null, null, v_now);
    if not found then
        perform leasehold.refuse_finished_job(cancel_job.job_id, 'cancelled');
    end if;
    v_keys := leasehold.close_chains(array[coalesce(v_job.chain_id, v_job.id)], false)
              || case when v_job.key is not null and v_job.state not in ('waiting', 'scheduled', 'blocked') then array[v_job.key] else '{}' end;
    if v_keys <> '{}' then
        perform leasehold.promote_waiting_jobs(v_keys);
    end if;
    if v_job.incarnation is not null then
        perform leasehold.send_notice(format('lost:%s:%s:cancelled', v_job.id, v_job.attempt));
    end if;
    return v_job.state;
exception when lock_not_available then
    raise exception using errcode = 'LH008', hint = 'try again, or end that session: select pg_terminate_backend(pid)',
        message = format('job %s cannot be cancelled now: %s', cancel_job.job_id, coalesce(
            leasehold.describe_row_holders(cancel_job.job_id),
            'another session holds a lock that this needs, on the key of the job or on jobs that wait for it'));
end
$$;
