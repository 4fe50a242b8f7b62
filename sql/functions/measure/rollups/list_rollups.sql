-- Purpose     Show what happened minute by minute, for charts; what is older than two days hour by hour.
-- Parameters  queue: only this one · since, until: only minutes that began from then on, or before then; the last hour where
--             nothing is said · page_size: at most so many rows
-- Returns     rows of rollups, oldest first; a minute of a queue in which nothing happened is left out
-- Errors      none
-- Tables      rollups, rollup_totals (read)
create or replace function leasehold.list_rollups(
    queue text default null, since timestamptz default null, until timestamptz default null, page_size integer default null
) returns setof leasehold.rollups language sql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
with asked as materialized (
    -- The clock is asked once, and by queue the index is read no further back than what is wanted.
    select coalesce(list_rollups.since, leasehold.clock() - interval '1 hour') as since
)
select r.* from asked a
  join leasehold.rollup_totals k on list_rollups.queue is null or k.queue = list_rollups.queue
 cross join lateral (select o.* from leasehold.rollups o
                      where o.queue = k.queue and o.starts_at >= a.since and (list_rollups.until is null or o.starts_at < list_rollups.until)) r
 order by r.starts_at, r.queue limit list_rollups.page_size
$$;
