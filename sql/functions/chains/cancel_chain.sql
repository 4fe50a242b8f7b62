-- Purpose     Cancel the open job of a chain. A handler that runs it is told, and what it still writes is refused.
--             Jobs that wait for the chain go on waiting.
-- Parameters  chain_id: id of the first job · reason: for people
-- Returns     the state that the job was in
-- Errors      LH002 no such chain · LH004 it has ended · LH008 as cancel_job
-- Tables      as lock_chains, as cancel_job
create or replace function leasehold.cancel_chain(chain_id bigint, reason text default null) returns text language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_id bigint := (select l.job_id from leasehold.lock_chains(array[cancel_chain.chain_id]) l where l.is_open);
begin
    if v_id is null then
        perform leasehold.refuse_chain(cancel_chain.chain_id, 'cancelled');
    end if;
    return leasehold.cancel_job(v_id, cancel_chain.reason);
end
$$;
