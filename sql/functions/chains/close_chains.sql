-- Purpose     Tell others that chains have ended. Clients that wait for one are notified at commit. If it completed,
--             the jobs that it blocked get its output, and those that nothing else blocks become claimable. A chain
--             that failed or was cancelled goes on blocking, because a retry may still complete it, except for jobs
--             that wait for any end.
-- Parameters  chain_ids: chains whose last job this transaction has moved to finished_jobs; ids of other jobs do no harm
--             completed: whether they completed
-- Returns     keys of unblocked jobs: the caller promotes them together with its own, in one call
-- Errors      none
-- Tables      chain_waiters (delete), job_blockers (update), then as unblock_jobs
create or replace function leasehold.close_chains(chain_ids bigint[], completed boolean) returns text[] language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_blocked bigint[];
    v_sent    bigint;
begin
    if exists (select from leasehold.chain_waiters) then
        with waiters as (
            delete from leasehold.chain_waiters w where w.chain_id = any (close_chains.chain_ids) returning w.chain_id
        )
        select count(leasehold.send_notice('closed:' || t.chain_id)) into v_sent from waiters t;
    end if;
    -- Asked of every completion there is: the order leaves one index to answer from, in one pass over its leaves.
    if (select b.chain_id from leasehold.job_blockers b
         where b.chain_id = any (close_chains.chain_ids) and b.closed_at is null and (close_chains.completed or b.until_ended)
         order by b.chain_id limit 1) is null then
        return '{}';
    end if;
    with ended as materialized (
        select c.chain_id, t.output, t.finished_at, t.state
          from (select distinct u.chain_id from unnest(close_chains.chain_ids) u(chain_id)
                 where exists (select from leasehold.job_blockers b where b.chain_id = u.chain_id and b.closed_at is null)) c
         cross join lateral leasehold.chain_tail(c.chain_id) t
         where not t.is_open
    ), closed as (
        update leasehold.job_blockers b set closed_at = e.finished_at, output = e.output, end_state = nullif(e.state, 'completed')
          from ended e where b.chain_id = e.chain_id and b.closed_at is null and (e.state = 'completed' or b.until_ended)
        returning b.job_id
    )
    select array_agg(distinct c.job_id) into v_blocked from closed c;
    return case when v_blocked is null then '{}' else leasehold.unblock_jobs(v_blocked) end;
end
$$;
