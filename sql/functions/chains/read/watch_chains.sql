-- Purpose     Tell which of these chains are over. For a while, a notification `closed:ID` announces the end of each
--             of the others. It registers first and looks afterwards; a chain that completes between the look and
--             this commit sees neither, so look again soon after.
-- Parameters  chain_ids: ids of first jobs · seconds: how long to be notified; null or 0: only look
-- Returns     for each that has ended a row as get_chains; for each that does not exist one with a null state
-- Errors      none
-- Tables      chain_waiters (insert, update, delete, in id order), jobs, finished_jobs (read)
create or replace function leasehold.watch_chains(chain_ids bigint[], seconds double precision default null)
returns setof leasehold.all_chains language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_until timestamptz := leasehold.clock() + make_interval(secs => least(watch_chains.seconds, 86400));
    v_soon  timestamptz := leasehold.clock() + make_interval(secs => least(watch_chains.seconds, 86400) / 2);
    v_ids   bigint[] := array(select distinct u.id from unnest(watch_chains.chain_ids) u(id) where u.id is not null order by 1);
    v_over  bigint[];
begin
    -- Most are open, so that is asked first, and in the cheapest way: an unfinished job is always the last of its chain.
    -- Scalar subqueries, because exists may become a walk through the whole table.
    if watch_chains.seconds > 0 then
        insert into leasehold.chain_waiters as w (chain_id, expires_at)
        select u.id, v_until from unnest(v_ids) u(id)
         where (select o.chain_id from leasehold.chain_waiters o where o.chain_id = u.id and o.expires_at > v_soon limit 1) is null
           and coalesce((select j.id from leasehold.jobs j where j.id = u.id and j.chain_id is null limit 1),
                        (select j.id from leasehold.jobs j where j.chain_id = u.id limit 1)) is not null
         order by u.id
        on conflict (chain_id) do update set expires_at = greatest(w.expires_at, excluded.expires_at);
    end if;
    v_over := array(select u.id from unnest(v_ids) u(id)
                     where coalesce((select j.id from leasehold.jobs j where j.id = u.id and j.chain_id is null limit 1),
                                    (select j.id from leasehold.jobs j where j.chain_id = u.id limit 1)) is null
                     order by u.id);
    if v_over <> '{}' then
        -- Registered at the moment at which the chain ended: nobody is going to be notified.
        delete from leasehold.chain_waiters w where w.chain_id = any (v_over);
    end if;
    return query
    select u.id, g.state, g.kind, g.queue, g.job_id, g.job_kind, g.job_state, g.jobs, g.output, g.error, g.created_at, g.finished_at, g.open_blockers
      from unnest(v_over) u(id)
      left join lateral leasehold.get_chains(array[u.id]) g on true
     where g.state is distinct from 'open';
end
$$;
