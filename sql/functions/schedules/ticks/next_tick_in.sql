-- Purpose     Tell when a scheduler next has something to do with schedules.
-- Parameters  except_ids: schedules to leave out, because the scheduler is at them
-- Returns     seconds, below 0 when a tick is overdue, 0 when a schedule is to be planned, null when nothing is to come
-- Errors      none
-- Tables      schedules (read)
create or replace function leasehold.next_tick_in(except_ids bigint[] default '{}') returns double precision language sql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
select min(case when s.planned_revision is not distinct from s.revision then extract(epoch from s.next_run_at - n.now)::double precision else 0 end)
  from (select leasehold.clock() as now) n, leasehold.schedules s
 where s.enabled and s.id <> all (next_tick_in.except_ids)
$$;
