-- Purpose     Complete the open job of a chain from outside, without a worker and in any state: somebody approved, or
--             a webhook came. A worker that runs the job is told, and what it still writes is refused.
-- Parameters  chain_id: id of the first job · output: of the chain, not kept where continuation has a next job
--             continuation: as continue_jobs
-- Returns     ids of the new jobs, the next one last
-- Errors      LH002 no such chain · LH004 it has ended · LH001 the continuation is refused · LH006 a unique job is there already
-- Tables      as lock_chains, as apply_continuations, job_events (insert), finished_jobs (update)
create or replace function leasehold.complete_chain(chain_id bigint, output jsonb default null, continuation jsonb default null)
returns bigint[] language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_id  bigint := (select l.job_id from leasehold.lock_chains(array[complete_chain.chain_id]) l where l.is_open);
    v_job leasehold.jobs;
    v_new bigint[];
begin
    select j.* into v_job from leasehold.jobs j where j.id = v_id;
    if not found then
        perform leasehold.refuse_chain(complete_chain.chain_id, 'completed');
    end if;
    select a.new_ids into v_new
      from leasehold.apply_continuations(array[v_job.id], array[complete_chain.continuation], array[complete_chain.output], null) a;
    insert into leasehold.job_events (job_id, at, event, attempt, message, detail)
    values (v_job.id, leasehold.clock(), 'completed_from_outside', v_job.attempt, format('by %s, while it was %s', session_user, v_job.state),
            jsonb_build_object('by', session_user, 'was', v_job.state));
    if v_job.incarnation is not null then
        -- Its worker must not take this for a completion of its own.
        update leasehold.finished_jobs f set incarnation = null where f.id = v_job.id and f.incarnation = v_job.incarnation;
        perform leasehold.send_notice(format('lost:%s:%s:already_completed', v_job.id, v_job.attempt));
    end if;
    return v_new;
end
$$;
