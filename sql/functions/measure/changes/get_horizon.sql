-- Purpose     Tell the time and which transactions are open, for readers of changes. A transaction that was open when
--             a reader looked may commit events that are older than its look.
-- Parameters  mark: take a transaction number, too. All that were open before `at` have smaller ones.
-- Returns     at: the time · oldest_xid: no transaction with a smaller number is open · mark_xid: the number taken, or null.
--             Numbers count up for ever. Once oldest_xid has come past a reader's mark, whatever happened before that is visible.
-- Errors      none
-- Tables      none
create or replace function leasehold.get_horizon(mark boolean default false)
returns table (at timestamptz, oldest_xid bigint, mark_xid bigint) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
with moment as materialized (
    select leasehold.clock() as at, pg_snapshot_xmin(pg_current_snapshot())::text::bigint as oldest_xid
)
select m.at, m.oldest_xid, case when get_horizon.mark then pg_current_xact_id()::text::bigint end from moment m
$$;
