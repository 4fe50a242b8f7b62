-- Purpose     List the default partitions of finished_jobs, job_events and job_logs, with what guard_default_partitions has done.
--             One is large if to look through it would hold others up.
-- Parameters  none
-- Returns     parent, name, the column that says in which partition a row belongs, whether it is large, from when on no row
--             may go into it (null where it has no guard), and whether that is proved for all of its rows
-- Errors      none
-- Tables      the catalogue
create or replace function leasehold.list_default_partitions()
returns table (parent text, name text, clocked_by text, is_large boolean, guarded_from timestamptz, is_proved boolean) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' as $$
select t.parent, t.parent || '_default', t.clocked_by, pg_relation_size(c.oid) > 16 * 1024 * 1024,
       substring(pg_get_constraintdef(k.oid) from '''([^'']+)''')::timestamptz, coalesce(k.convalidated, false)
  from (values ('finished_jobs', 'finished_at'), ('job_events', 'at'), ('job_logs', 'at')) t (parent, clocked_by)
  join pg_class c on c.oid = to_regclass('leasehold.' || t.parent || '_default')
  left join pg_constraint k on k.conrelid = c.oid and k.conname = 'no_days_to_come'
$$;
