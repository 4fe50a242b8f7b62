-- Purpose     Lock the last jobs of chains, so that no chain ends, continues or is retried before this transaction
--             ends. If a last job has gone on while we waited for it, the new last job is looked up.
-- Parameters  chain_ids: ids of first jobs; what is no chain is left out
-- Returns     for each its last job, and whether that is unfinished
-- Errors      none
-- Tables      jobs (locked, in id order), then finished_jobs (locked)
create or replace function leasehold.lock_chains(chain_ids bigint[])
returns table (chain_id bigint, job_id bigint, is_open boolean) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_chains bigint[];
    v_tails  bigint[];
    v_open   bigint[];
    v_shut   bigint[];
begin
    loop
        select array_agg(c.id order by t.job_id), array_agg(t.job_id order by t.job_id) into v_chains, v_tails
          from (select distinct u.id from unnest(lock_chains.chain_ids) u(id)) c
         cross join lateral leasehold.chain_tail(c.id) t;
        v_open := array(select j.id from leasehold.jobs j where j.id = any (v_tails) order by j.id for update);
        v_shut := array(select f.id from leasehold.finished_jobs f where f.id = any (v_tails) and f.succeeded_by is null order by f.id for update);
        exit when not exists (select from unnest(v_tails) t(id) where t.id not in (select unnest(v_open || v_shut)));
    end loop;
    return query
    select h.chain_id, h.job_id, h.job_id in (select unnest(v_open)) from unnest(v_chains, v_tails) h(chain_id, job_id);
end
$$;
