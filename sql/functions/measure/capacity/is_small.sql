-- Purpose     Tell whether a table is small enough to be counted at each request: up to 8 MB with all its partitions,
--             which is some twenty thousand jobs and ten milliseconds. The setting leasehold.small_table (bytes)
--             changes the limit.
-- Parameters  name: of the table
-- Returns     true or false
-- Errors      none
-- Tables      none; sizes are asked of the file system
create or replace function leasehold.is_small(name text) returns boolean language sql stable
set search_path = leasehold, pg_catalog, pg_temp as $$
select pg_relation_size(c.name) + coalesce((select sum(pg_relation_size(t.relid)) from pg_partition_tree(c.name) t where t.isleaf), 0)
       <= coalesce(nullif(current_setting('leasehold.small_table', true), '')::bigint, 8388608)
  from (select ('leasehold.' || is_small.name)::regclass as name) c
$$;
