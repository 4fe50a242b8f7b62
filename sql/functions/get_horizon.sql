-- Purpose     Tell what time it is and which transactions are open, for readers of changes: a transaction that was open when
--             a reader looked may commit events that are older than its look.
-- Parameters  none
-- Returns     at: the time · oldest_xid: the oldest transaction that is still open · next_xid: none yet has this number or a
--             greater one. Both count up for ever. A reader that remembers next_xid with its time knows, once oldest_xid has
--             come that far, that whatever happened before is visible.
-- Errors      none
-- Tables      none
-- Callers     clients
create or replace function leasehold.get_horizon() returns table (at timestamptz, oldest_xid bigint, next_xid bigint)
language sql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
select leasehold.clock(), pg_snapshot_xmin(s.now)::text::bigint, pg_snapshot_xmax(s.now)::text::bigint
  from (select pg_current_snapshot() as now) s
$$;
