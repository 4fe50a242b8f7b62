-- Purpose     Count the index entries that this transaction has read for nothing: their rows are there no more, as those of jobs
--             that have been claimed. The difference of two calls tells what lay between. It is always 0 where Postgres
--             counts nothing (track_counts = off).
-- Parameters  index: which one
-- Returns     a number that grows within the transaction
-- Errors      none
-- Tables      none
create or replace function leasehold.count_dead_entries(index oid) returns bigint language sql volatile as $$
select pg_catalog.pg_stat_get_xact_tuples_returned(count_dead_entries.index) - pg_catalog.pg_stat_get_xact_tuples_fetched(count_dead_entries.index)
$$;
