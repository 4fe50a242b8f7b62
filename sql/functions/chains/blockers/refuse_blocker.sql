-- Purpose     Say why nothing can wait for this chain, or return null.
-- Parameters  chain_id: what was given as one
-- Returns     a sentence or null
-- Errors      none
-- Tables      jobs, finished_jobs (read)
create or replace function leasehold.refuse_blocker(chain_id bigint) returns text language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select case when f.id is null then format('blocker %s is no job', refuse_blocker.chain_id)
            when f.chain_id is not null
            then format('blocker %s is not the first job of its chain; give the chain, %s', refuse_blocker.chain_id, f.chain_id) end
  from (select) one
  left join lateral (select j.id, j.chain_id from leasehold.jobs j where j.id = refuse_blocker.chain_id
                     union all
                     select d.id, d.chain_id from leasehold.finished_jobs d where d.id = refuse_blocker.chain_id
                     limit 1) f on true
$$;
