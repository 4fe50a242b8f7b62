-- Purpose     The part of explain_job for a job that chains block: one row for each open chain, ten at the most, those that
--             will not complete by themselves first.
-- Parameters  job_id
-- Returns     as explain_job
-- Errors      none
-- Tables      job_blockers, jobs, finished_jobs (read)
-- Callers     explain_job
create or replace function leasehold.explain_blocked_job(job_id bigint)
returns table (reason text, explanation text, until timestamptz, facts jsonb) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select 'blocked',
       case when t.job_id is null then format('chain %s (slot %s) is gone, so it can never complete; cancel this job', b.chain_id, b.slot)
            when t.is_open then format('chain %s (slot %s) is open: its job %s is %s', b.chain_id, b.slot, t.job_id, t.state)
            when t.state = 'completed' then format('chain %s (slot %s) completed at %s unseen; the reaper''s next round unblocks the job', b.chain_id, b.slot, t.finished_at)
            else format('chain %s (slot %s) %s at %s with its job %s (%s); retry that job, or complete the chain from outside', b.chain_id, b.slot,
                        case t.state when 'failed' then 'failed' else 'was cancelled' end, t.finished_at, t.job_id, t.error ->> 'message') end,
       null::timestamptz,
       jsonb_build_object('chain_id', b.chain_id, 'slot', b.slot, 'job_id', t.job_id, 'state', t.state, 'is_open', t.is_open,
                          'since', t.finished_at, 'open_blockers', b.open_blockers)
  from (select o.*, count(*) over () as open_blockers from leasehold.job_blockers o
         where o.job_id = explain_blocked_job.job_id and o.closed_at is null) b
  left join lateral leasehold.chain_tail(b.chain_id) t on true
 order by coalesce(t.is_open, false), b.slot limit 10
$$;
