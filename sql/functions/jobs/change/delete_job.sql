-- Purpose     Remove a job that nobody holds, with its events, logs and progress; one event `deleted` remains under
--             its id.
-- Parameters  job_id
-- Returns     the state it was in
-- Errors      LH002 no such job · LH004 a worker holds it (cancel it first), it is one of several jobs of a chain (delete the
--             chain), or a job waits for it
-- Tables      as delete_chain
create or replace function leasehold.delete_job(job_id bigint) returns text language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_job     leasehold.all_jobs;
    v_refusal text;
begin
    select a.* into v_job from leasehold.get_job(delete_job.job_id) a;
    if v_job.id is null then
        perform leasehold.refuse_finished_job(delete_job.job_id, 'deleted');
    end if;
    perform leasehold.lock_chains(array[v_job.chain_id]);
    select a.* into v_job from leasehold.get_job(delete_job.job_id) a;
    if v_job.id is null then
        perform leasehold.refuse_finished_job(delete_job.job_id, 'deleted');
    end if;
    v_refusal := leasehold.describe_links(v_job);
    if v_refusal is not null then
        raise exception using errcode = 'LH004', message = v_refusal,
            hint = case when v_job.state in ('claimed', 'running') then 'cancel it first' else 'delete the chain' end;
    end if;
    perform leasehold.delete_chain(v_job.chain_id);
    return v_job.state;
end
$$;
