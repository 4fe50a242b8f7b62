-- Purpose     List the partitions of finished_jobs, job_events and job_logs, without the default ones. Most have one day
--             (UTC); where jobs are kept for long, they have several.
-- Parameters  none
-- Returns     parent, name, and from when (included) until when (not included) it takes rows
-- Errors      none
-- Tables      the catalogue
create or replace function leasehold.list_partitions()
returns table (parent text, name text, since timestamptz, until timestamptz) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' as $$
select p.relname, c.relname, substring(b.bound from E'FROM \\(''([^'']+)''\\)')::timestamptz, substring(b.bound from E'TO \\(''([^'']+)''\\)')::timestamptz
  from pg_class p
  join pg_inherits i on i.inhparent = p.oid
  join pg_class c on c.oid = i.inhrelid
 cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as bound) b
 where p.oid in ('leasehold.finished_jobs'::regclass, 'leasehold.job_events'::regclass, 'leasehold.job_logs'::regclass) and b.bound <> 'DEFAULT'
$$;
