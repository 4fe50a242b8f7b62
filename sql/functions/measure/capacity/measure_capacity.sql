-- Purpose     Show what each queue has, does and can do. `pending` is everything that has not begun, `ready` the part of it
--             that may begin now, `waiting` that which may when its key is free. A worker counts for every queue that it
--             serves, and is taken to give all its slots to it. Rates are of the last hour, arrivals of the last ten
--             minutes; retries arrive anew. For one queue only what is known of that one is read.
-- Parameters  only_queue: only this one; null: all
-- Returns     a row for each queue of which a job is known; big tables are not counted for this: counted_at tells of when it is.
--             The columns from `role` on are the same under the names of task workers: their dashboards read v_worker_capacity ·
--             is_partial: there may be more pending and ready jobs, as list_queue_depths says; hours_to_drain and what
--             workers_needed and desired_workers tell are lower bounds then
-- Errors      none
-- Tables      as list_queue_depths and measure_hour, workers (read)
create or replace function leasehold.measure_capacity(only_queue text default null)
returns table (queue text, pending bigint, ready bigint, claimed bigint, running bigint, completed_last_hour bigint, failed_last_hour bigint,
               active_workers bigint, avg_seconds double precision, jobs_per_worker_hour double precision, hours_to_drain double precision,
               active_slots bigint, slots_per_worker double precision, arrivals_per_second double precision, run_variation double precision,
               waiting bigint, counted_at timestamptz, role text, pending_tasks bigint, ready_tasks bigint, claimed_tasks bigint,
               running_tasks bigint, avg_duration_sec double precision, tasks_per_worker_hour double precision,
               estimated_hours_to_drain double precision, is_partial boolean) language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
with alive as materialized (
    -- Workers of one deployment are alike, so that there are few of these however many workers there are.
    select a.queues, count(*) as workers, sum(a.slots) as slots
      from leasehold.workers a cross join (select leasehold.clock() as now) t where a.state = 'ready' and leasehold.is_alive(a, t.now)
       and (measure_capacity.only_queue is null or a.queues = '{}' or measure_capacity.only_queue = any (a.queues))
     group by a.queues
)
select d.queue, d.pending, d.ready, d.claimed, d.running,
       coalesce(h.completed, 0) as completed_last_hour, coalesce(h.failed, 0) as failed_last_hour, w.active_workers,
       s.avg_seconds, s.jobs_per_worker_hour,
       case when d.pending = 0 then 0
            else d.pending / nullif(w.active_workers * s.jobs_per_worker_hour, 0) end as hours_to_drain,
       w.active_slots, w.slots_per_worker, coalesce((h.arrivals + h.retries) / h.arrival_seconds, 0) as arrivals_per_second,
       case when h.run_seconds > 0 then greatest(0, h.attempts * h.run_squares / (h.run_seconds * h.run_seconds) - 1) end as run_variation,
       d.waiting, d.counted_at, d.queue, d.pending, d.ready, d.claimed, d.running, s.avg_seconds, s.jobs_per_worker_hour,
       case when d.pending = 0 then 0
            else d.pending / nullif(w.active_workers * s.jobs_per_worker_hour, 0) end, d.is_partial
  from (select l.queue, coalesce(sum(l.jobs) filter (where l.state in ('pending', 'scheduled', 'waiting', 'blocked')), 0)::bigint as pending,
               coalesce(sum(l.jobs) filter (where l.state = 'pending'), 0)::bigint as ready,
               coalesce(sum(l.jobs) filter (where l.state = 'waiting'), 0)::bigint as waiting,
               coalesce(sum(l.jobs) filter (where l.state = 'claimed'), 0)::bigint as claimed,
               coalesce(sum(l.jobs) filter (where l.state = 'running'), 0)::bigint as running, min(l.counted_at) as counted_at,
               bool_or(l.is_partial) as is_partial
          from leasehold.list_queue_depths(measure_capacity.only_queue) l group by l.queue) d
  left join leasehold.measure_hour(measure_capacity.only_queue) h on h.queue = d.queue
 cross join lateral (
       select coalesce(sum(a.workers), 0)::bigint as active_workers, coalesce(sum(a.slots), 0)::bigint as active_slots,
              coalesce(sum(a.slots) / sum(a.workers), 3)::double precision as slots_per_worker
         from alive a where a.queues = '{}' or d.queue = any (a.queues)) w
 cross join lateral (
       select h.run_seconds / nullif(h.attempts, 0) as avg_seconds,
              3600 * w.slots_per_worker / nullif(h.run_seconds / nullif(h.attempts, 0), 0) as jobs_per_worker_hour) s
$$;
