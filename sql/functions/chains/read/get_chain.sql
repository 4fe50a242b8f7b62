-- Purpose     Show how one chain stands.
-- Parameters  chain_id: id of the first job
-- Returns     a row as get_chains, or none
-- Errors      none
-- Tables      jobs, finished_jobs, job_blockers (read)
create or replace function leasehold.get_chain(chain_id bigint) returns setof leasehold.all_chains language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select * from leasehold.get_chains(array[get_chain.chain_id])
$$;
