-- Purpose     Explain a job that chains block, for explain_job: one row for each open chain, ten at most, those first
--             that will not complete by themselves.
-- Parameters  job_id
-- Returns     as explain_job
-- Errors      none
-- Tables      job_blockers, jobs, finished_jobs (read)
create or replace function leasehold.explain_blocked_job(job_id bigint)
returns table (reason text, explanation text, until timestamptz, facts jsonb) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_waiting bigint[] := array(select w.waiting_id from leasehold.jobs j cross join lateral leasehold.list_waiting_chains(coalesce(j.chain_id, j.id)) w
                                 where j.id = explain_blocked_job.job_id);
begin
    return query
    select case when b.is_over then 'stranded' else 'blocked' end,
           case when t.job_id is null then format('it waits for chain %s (slot %s), which is gone and can never complete; cancel the job', b.chain_id, b.slot)
                when t.is_open then format('it waits for chain %s (slot %s), whose job %s is %s', b.chain_id, b.slot, t.job_id, t.state)
                     || case when b.is_circle then ' and waits for this one in turn, maybe by way of others: none will go on until one of them is cancelled'
                                                   ' or completed from outside' else '' end
                when b.is_over then format('chain %s (slot %s) %s at %s unseen; a reaper sees to it', b.chain_id, b.slot,
                                                       case t.state when 'cancelled' then 'was cancelled' else t.state end,
                                                       date_trunc('second', t.finished_at))
                else format('it waits for chain %s (slot %s), which %s at %s with its job %s', b.chain_id, b.slot,
                            case t.state when 'failed' then 'failed' else 'was cancelled' end, date_trunc('second', t.finished_at), t.job_id)
                     || coalesce(' (' || leasehold.describe_error(t.error) || ')', '') || '; retry that job, or complete the chain from outside' end,
           null::timestamptz,
           jsonb_build_object('chain_id', b.chain_id, 'slot', b.slot, 'job_id', t.job_id, 'state', t.state, 'is_open', t.is_open,
                              'since', t.finished_at, 'open_blockers', b.open_blockers, 'is_circle', b.is_circle)
      from (select o.*, count(*) over () as open_blockers, o.chain_id = any (v_waiting) as is_circle,
                   leasehold.is_over(o.chain_id, o.until_ended) as is_over from leasehold.job_blockers o
             where o.job_id = explain_blocked_job.job_id and o.closed_at is null) b
      left join lateral leasehold.chain_tail(b.chain_id) t on true
     order by coalesce(t.is_open, false), not b.is_circle, b.is_over, b.slot limit 10;
    if not found then
        return query select 'stranded', 'every chain that it waited for is over; a reaper sees to it', null::timestamptz, '{}'::jsonb;
    end if;
end
$$;
