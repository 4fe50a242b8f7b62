-- Purpose     Raise the right error for a chain that an operation does not fit.
-- Parameters  chain_id · wish: what was asked for, as a participle
-- Returns     never
-- Errors      LH002 no such chain · LH004 it has ended
-- Tables      jobs, finished_jobs (read)
create or replace function leasehold.refuse_chain(chain_id bigint, wish text) returns void language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_state text := (select t.state from leasehold.chain_tail(refuse_chain.chain_id) t);
begin
    if v_state is null then
        raise exception using errcode = 'LH002', message = format('there is no chain %s', refuse_chain.chain_id)
            || coalesce((select format('; that is a later job of chain %s', a.chain_id)
                           from leasehold.all_jobs a where a.id = refuse_chain.chain_id limit 1), '');
    end if;
    raise exception using errcode = 'LH004', message = format('chain %s is %s and cannot be %s', refuse_chain.chain_id, v_state, refuse_chain.wish);
end
$$;
