-- Purpose     List the chains that a job waits or waited for, in the order of its slots, with the result of each.
-- Parameters  job_id
-- Returns     slot (from 1), chain_id, closed_at (null: still open), output, and how the chain stands: open, completed, failed,
--             cancelled, or deleted; no row for a job that waited for nothing
-- Errors      none
-- Tables      job_blockers, jobs, finished_jobs (read)
create or replace function leasehold.get_job_blockers(job_id bigint)
returns table (slot integer, chain_id bigint, closed_at timestamptz, output jsonb, state text) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select b.slot, b.chain_id, b.closed_at, b.output,
       case when b.closed_at is not null then coalesce(b.end_state, 'completed')
            else coalesce((select case when t.is_open then 'open' else t.state end from leasehold.chain_tail(b.chain_id) t), 'deleted') end
  from leasehold.job_blockers b where b.job_id = get_job_blockers.job_id order by b.slot
$$;
