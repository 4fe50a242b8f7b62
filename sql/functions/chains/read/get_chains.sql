-- Purpose     Show how chains stand. There is no table of chains: the last job of each tells.
-- Parameters  chain_ids: ids of first jobs; what is no chain is left out
-- Returns     rows of all_chains, in the order given: state (open, or that of the last job: completed, failed, cancelled);
--             kind, queue and created_at of the first job (null once retention has forgotten it);
--             job_id, job_kind and job_state of the last job; jobs: how many there were so far;
--             output, error and finished_at of the chain, error of an open one is that of the last failed attempt;
--             open_blockers: how many chains the last job waits for
-- Errors      none
-- Tables      jobs, finished_jobs, job_blockers (read)
create or replace function leasehold.get_chains(chain_ids bigint[])
returns setof leasehold.all_chains language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
select c.id, case when t.is_open then 'open' else t.state end,
       case t.job_id when c.id then t.kind else f.kind end, case t.job_id when c.id then t.queue else f.queue end,
       t.job_id, t.kind, t.state, t.chain_position + 1, t.output, t.error,
       case t.job_id when c.id then t.created_at else f.created_at end, t.finished_at,
       (select count(*)::integer from leasehold.job_blockers b where t.is_open and b.job_id = t.job_id and b.closed_at is null)
  from unnest(get_chains.chain_ids) with ordinality c(id, position)
 cross join lateral leasehold.chain_tail(c.id) t
  left join lateral leasehold.get_job(case when t.job_id <> c.id then c.id end) f on true
 order by c.position
$$;
