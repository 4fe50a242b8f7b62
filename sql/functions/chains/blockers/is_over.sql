-- Purpose     Tell whether a chain no longer blocks the jobs that wait for it.
-- Parameters  chain_id: id of the first job · until_ended: true for those who wait for any end, else for its completion
-- Returns     true or false; false for what is no chain
-- Errors      none
-- Tables      jobs, finished_jobs (read)
create or replace function leasehold.is_over(chain_id bigint, until_ended boolean) returns boolean language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select coalesce((select not t.is_open and (t.state = 'completed' or is_over.until_ended) from leasehold.chain_tail(is_over.chain_id) t), false)
$$;
