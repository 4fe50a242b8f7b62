-- Purpose     Whether a table is small enough to be counted whenever somebody asks: up to 16 MB with all its partitions, which
--             is some ten thousand jobs and ten milliseconds.
-- Parameters  name: of the table
-- Returns     true or false
-- Errors      none
-- Tables      none; sizes are asked of the file system
-- Callers     list_queue_depths, measure_depths
create or replace function leasehold.is_small(name text) returns boolean language sql stable
set search_path = leasehold, pg_catalog, pg_temp as $$
select coalesce(sum(pg_relation_size(t.relid)), 0) <= 16 * 1024 * 1024 from pg_partition_tree(('leasehold.' || is_small.name)::regclass) t
$$;
