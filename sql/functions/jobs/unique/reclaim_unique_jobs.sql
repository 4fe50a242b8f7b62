-- Purpose     Claim the unique keys of finished jobs again that are to run once more. A key whose present job is
--             unfinished (or its chain open, if it was claimed for the chain) is refused; the others are given back.
--             If several jobs have one key, the one that has it gets it, else the newest.
-- Parameters  job_ids: failed and cancelled jobs to run again; others are passed over
-- Returns     the refused ones, each with the job that has its key
-- Errors      none
-- Tables      jobs, finished_jobs, unique_claims (read), unique_jobs as claim_unique_keys, then updated
create or replace function leasehold.reclaim_unique_jobs(job_ids bigint[]) returns table (job_id bigint, holder bigint) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_now   timestamptz := leasehold.clock();
    v_asked record;
    v_had   record;
begin
    -- The claim of a chain belongs to its first job; a retry of any of its jobs opens it again.
    select array_agg(c.job_id) as ids, array_agg(c.head) as heads, array_agg(c.unique_key) as keys into v_asked
      from (select a.id as job_id, u.job_id as head, u.unique_key
              from unnest(reclaim_unique_jobs.job_ids) a(id)
             cross join lateral (select f.chain_id from leasehold.finished_jobs f where f.id = a.id and f.state in ('failed', 'cancelled') limit 1) f
             -- offset 0, here and below: one look for each, whatever Postgres believes to be in the table
             cross join lateral (select o.job_id, o.unique_key from leasehold.unique_claims o
                                  where o.job_id = coalesce(f.chain_id, a.id) and (f.chain_id is null or o.of_chain) offset 0) u) c;
    if v_asked.keys is null then
        return;
    end if;
    select array_agg(h.unique_key) as keys, array_agg(h.job_id) as ids, array_agg(h.since) as since, array_agg(h.is_mine) as mine into v_had
      from (select array_agg(k.unique_key) as keys, array_agg(k.newest) as ids
              from (select a.unique_key, max(a.head) as newest from unnest(v_asked.keys, v_asked.heads) a(unique_key, head) group by 1) k) n
     cross join lateral leasehold.claim_unique_keys(n.keys, n.ids, v_now) h;
    return query
    with judged as materialized (
        select h.unique_key, h.since,
               case when h.mine or h.had = any (v_asked.heads)
                         or leasehold.is_bound(h.had, h.since, case when c.of_chain then '{"scope": "chain"}'::jsonb else '{}' end, v_now)
                    then h.had else n.newest end as winner
          from unnest(v_had.keys, v_had.ids, v_had.since, v_had.mine) h(unique_key, had, since, mine)
          join (select a.unique_key, max(a.head) as newest from unnest(v_asked.keys, v_asked.heads) a(unique_key, head) group by 1) n using (unique_key)
          left join lateral (select o.of_chain from leasehold.unique_claims o where o.job_id = h.had offset 0) c on true
    ), given as (
        -- Also where it has it already: a transaction with an older snapshot must not judge by what it sees of the job.
        update leasehold.unique_jobs u set job_id = g.winner
          from judged g cross join lateral (select o.ctid as place from leasehold.unique_jobs o where o.unique_key = g.unique_key offset 0) p
         where u.ctid = p.place
    )
    select a.id, g.winner from unnest(v_asked.ids, v_asked.heads, v_asked.keys) a(id, head, unique_key)
      join judged g on g.unique_key = a.unique_key where g.winner <> a.head;
end
$$;
