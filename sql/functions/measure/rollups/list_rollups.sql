-- Purpose     Show what happened minute by minute, for charts; what is older than two days hour by hour.
-- Parameters  queue: only this one · since, until: only minutes that began from then on, or before then; the last hour where
--             nothing is said · page_size: at most so many rows
-- Returns     rows of rollups, oldest first; a minute of a queue in which nothing happened is left out
-- Errors      none
-- Tables      rollups (read)
create or replace function leasehold.list_rollups(
    queue text default null, since timestamptz default null, until timestamptz default null, page_size integer default null
) returns setof leasehold.rollups language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select * from leasehold.rollups r
 where r.starts_at >= coalesce(list_rollups.since, leasehold.clock() - interval '1 hour')
   and (list_rollups.until is null or r.starts_at < list_rollups.until)
   and (list_rollups.queue is null or r.queue = list_rollups.queue)
 order by r.starts_at, r.queue limit list_rollups.page_size
$$;
