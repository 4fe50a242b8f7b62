-- What became of each tick of each schedule.
create or replace view leasehold.schedule_history as
select t.id, s.name as schedule, t.tick_at, t.fired_at, t.origin, t.outcome, t.reason, t.ticks, t.last_tick_at, t.job_count, t.job_ids, t.error,
       t.fired_by, t.schedule_id
  from leasehold.schedule_ticks t
  join leasehold.schedules s on s.id = t.schedule_id;
