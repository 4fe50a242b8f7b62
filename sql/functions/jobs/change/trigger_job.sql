-- Purpose     Run a scheduled job now.
-- Parameters  job_id
-- Returns     its new state: pending, or waiting behind its key
-- Errors      LH002 no such job · LH004 it is not scheduled
-- Tables      as trigger_jobs
create or replace function leasehold.trigger_job(job_id bigint) returns text language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_state text;
begin
    select t.state into v_state from leasehold.trigger_jobs(array[trigger_job.job_id]) t;
    if not found then
        raise exception using errcode = 'LH002', message = 'there is no job null';
    end if;
    return v_state;
end
$$;
