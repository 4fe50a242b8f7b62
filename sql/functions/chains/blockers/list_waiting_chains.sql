-- Purpose     List the chains that wait for a chain, directly or by way of others. A chain that is among its own
--             waits in a circle.
-- Parameters  chain_id: the chain that they wait for
-- Returns     their ids, in no order
-- Errors      none
-- Tables      jobs, job_blockers (read)
create or replace function leasehold.list_waiting_chains(chain_id bigint)
returns table (waiting_id bigint) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
with recursive waiting(id) as (
    select coalesce(j.chain_id, j.id) from leasehold.job_blockers e join leasehold.jobs j on j.id = e.job_id
     where e.chain_id = list_waiting_chains.chain_id and e.closed_at is null
    union
    select coalesce(j.chain_id, j.id)
      from waiting w join leasehold.job_blockers e on e.chain_id = w.id and e.closed_at is null join leasehold.jobs j on j.id = e.job_id
)
select w.id from waiting w
$$;
