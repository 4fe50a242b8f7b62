-- Purpose     Say which jobs keep a chain from being deleted, because they wait for it.
-- Parameters  chain_id: the chain · chains: those that go with it; their jobs keep nothing
-- Returns     a sentence; null: none does
-- Errors      none
-- Tables      job_blockers, jobs (read)
create or replace function leasehold.describe_waiters(chain_id bigint, chains bigint[]) returns text language sql
set search_path = leasehold, pg_catalog, pg_temp set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
select format('chain %s cannot be deleted: %s%s for it', describe_waiters.chain_id,
              string_agg(format('job %s (%s)', d.id, d.kind), ', ' order by d.place) filter (where d.place <= 3),
              case when count(*) > 3 then format(' and %s more wait', count(*) - 3) when count(*) > 1 then ' wait' else ' waits' end)
  from (select j.id, j.kind, row_number() over (order by j.id) as place
          from (select distinct b.job_id from leasehold.job_blockers b where b.chain_id = describe_waiters.chain_id and b.closed_at is null) b
         cross join lateral (select o.id, o.kind, o.chain_id from leasehold.jobs o where o.id = b.job_id offset 0) j
         where coalesce(j.chain_id, j.id) not in (select unnest(describe_waiters.chains))) d
having count(*) > 0
$$;
