-- Purpose     Show a chain with all that waits for it and all that those wait for, directly or by way of others.
-- Parameters  root_id: id of the first job of the chain · max_chains: at most so many, those nearest to it first, 1 to 10000
-- Returns     for each chain, itself first: chain_id, kind, state, job_id, job_kind, job_state, jobs, created_at, finished_at as
--             get_chains; waits_for: the chains that its jobs wait or waited for (of those in the answer); is_partial: there are more ·
--             chains that waited for it once and do not any more are not found, for no index has them; nothing for what is no chain
-- Errors      LH001 max_chains out of range
-- Tables      jobs, finished_jobs, job_blockers (read)
create or replace function leasehold.list_chain_graph(root_id bigint, max_chains integer default 2000)
returns table (chain_id bigint, kind text, state text, job_id bigint, job_kind text, job_state text, jobs integer, created_at timestamptz,
               finished_at timestamptz, waits_for bigint[], is_partial boolean) language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_all     bigint[] := array[list_chain_graph.root_id];
    v_next    bigint[] := v_all;
    v_from    bigint[] := '{}';
    v_to      bigint[] := '{}';
    v_found   record;
    v_is_full boolean := false;
begin
    if coalesce(list_chain_graph.max_chains, 0) not between 1 and 10000 then
        raise exception using errcode = 'LH001', message = format('max_chains must be from 1 to 10000, not %s', coalesce(list_chain_graph.max_chains::text, 'null'));
    end if;
    -- First those that wait, then, of all of them, what they wait for.
    while cardinality(v_next) > 0 and not v_is_full loop
        v_next := array(select distinct coalesce(j.chain_id, j.id)
                          from unnest(v_next) n(id) join leasehold.job_blockers b on b.chain_id = n.id and b.closed_at is null
                          join leasehold.jobs j on j.id = b.job_id
                         where coalesce(j.chain_id, j.id) <> all (v_all)
                         order by 1 limit list_chain_graph.max_chains + 1);
        v_is_full := cardinality(v_all) + cardinality(v_next) > list_chain_graph.max_chains;
        v_all := (v_all || v_next)[:list_chain_graph.max_chains];
    end loop;
    v_next := v_all;
    while cardinality(v_next) > 0 loop
        select array_agg(e.chain) as chains, array_agg(e.target) as targets into v_found
          from (select distinct n.id as chain, b.chain_id as target
                  from unnest(v_next) n(id) cross join lateral leasehold.chain_jobs(n.id) c
                  join leasehold.job_blockers b on b.job_id = c.job_id
                 order by 1, 2 limit 10 * list_chain_graph.max_chains) e;
        v_from := v_from || coalesce(v_found.chains, '{}');
        v_to := v_to || coalesce(v_found.targets, '{}');
        v_next := array(select distinct t.id from unnest(v_found.targets) t(id) where t.id <> all (v_all) order by 1);
        v_is_full := v_is_full or cardinality(v_all) + cardinality(v_next) > list_chain_graph.max_chains;
        v_next := v_next[:greatest(0, list_chain_graph.max_chains - cardinality(v_all))];
        v_all := v_all || v_next;
    end loop;
    return query
    select g.chain_id, g.kind, g.state, g.job_id, g.job_kind, g.job_state, g.jobs, g.created_at, g.finished_at,
           coalesce(w.targets, '{}'), v_is_full
      from leasehold.get_chains(v_all) with ordinality g(chain_id, state, kind, queue, job_id, job_kind, job_state, jobs, output, error,
                                                         created_at, finished_at, open_blockers, position)
      left join (select e.chain, array_agg(distinct e.target order by e.target) as targets
                   from unnest(v_from, v_to) e(chain, target) where e.target = any (v_all) group by e.chain) w on w.chain = g.chain_id
     order by g.position;
end
$$;
