-- Purpose     List the jobs of a chain, finished or not, as far as retention has left them.
-- Parameters  chain_id: id of the first job
-- Returns     job_id and chain_position, in no order; nothing for what is no chain
-- Errors      none
-- Tables      jobs, finished_jobs (read)
create or replace function leasehold.chain_jobs(chain_id bigint) returns table (job_id bigint, chain_position integer)
language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select j.id, 0 from leasehold.jobs j where j.id = chain_jobs.chain_id and j.chain_id is null
union all
select j.id, j.chain_position from leasehold.jobs j where j.chain_id = chain_jobs.chain_id
union all
select f.id, 0 from leasehold.finished_jobs f where f.id = chain_jobs.chain_id and f.chain_id is null
union all
select f.id, f.chain_position from leasehold.finished_jobs f where f.chain_id = chain_jobs.chain_id
$$;
