-- Purpose     Whether a chain has completed.
-- Parameters  chain_id: id of the first job
-- Returns     true or false; false for what is no chain
-- Errors      none
-- Tables      jobs, finished_jobs (read)
-- Callers     unblock_jobs, unblock_stranded_jobs
create or replace function leasehold.is_completed(chain_id bigint) returns boolean language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select coalesce((select t.state = 'completed' and not t.is_open from leasehold.chain_tail(is_completed.chain_id) t), false)
$$;
