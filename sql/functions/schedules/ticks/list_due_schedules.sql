-- Purpose     List the schedules that a scheduler has to look at now: those to be planned, and those with a tick that
--             is due.
-- Parameters  batch: how many at the most, the most overdue first
-- Returns     of each what firing it needs, and now: the time that was asked by
-- Errors      none
-- Tables      schedules (read)
create or replace function leasehold.list_due_schedules(batch integer default 500)
returns table (id bigint, name text, revision bigint, is_planned boolean, next_run_at timestamptz, every double precision, anchor timestamptz, cron text, at timestamptz,
               zone text, starts_at timestamptz, ends_at timestamptz, planned_from timestamptz, last_tick_at timestamptz, missed text,
               grace double precision, catch_up_limit integer, query text, query_timeout double precision, query_rows integer, now timestamptz)
language sql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
select s.id, s.name, s.revision, s.planned_revision is not distinct from s.revision, s.next_run_at, s.every, s.anchor, s.cron, s.at, s.zone,
       s.starts_at, s.ends_at, s.planned_from, s.last_tick_at, s.missed, s.grace, s.catch_up_limit, s.query, s.query_timeout, s.query_rows, n.now
  from (select leasehold.clock() as now) n, leasehold.schedules s
 where s.enabled and (s.next_run_at <= n.now or s.planned_revision is distinct from s.revision)
 order by s.planned_revision is not distinct from s.revision, s.next_run_at limit list_due_schedules.batch
$$;
