-- Purpose     Show how the fleet fares, in one row: for metrics, and for views that refresh every second.
-- Parameters  none
-- Returns     ready, paused, draining, stale: workers by state (as list_workers); backing_off: those that claim nothing for now
--             deaf: alive and should listen (find_place) and do not, so they poll; workers that did not say how often they beat
--             have no listener, as those over HTTP, and are none of them · slots: of ready workers · held_jobs: claimed and running
--             overdue_jobs: whose lease has run out and nobody has taken them back · lost_jobs, lost_wake_ups: taken back from
--             the workers that are still known, and what those found by themselves
-- Errors      none
-- Tables      workers, jobs (read: an index entry for each held job)
create or replace function leasehold.measure_fleet()
returns table (ready bigint, paused bigint, draining bigint, stale bigint, backing_off bigint, deaf bigint, slots bigint,
               held_jobs bigint, overdue_jobs bigint, lost_jobs bigint, lost_wake_ups bigint) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
with moment as (
    select leasehold.clock() as now
), fleet as materialized (
    select w.state, leasehold.is_alive(w, m.now) as is_alive, w.backoff, w.listening or w.heartbeat_seconds is null as hears, w.slots
      from leasehold.workers w cross join moment m where w.stopped_at is null
), held as (
    select count(*) as jobs, count(*) filter (where j.lease_expires_at < m.now) as overdue
      from leasehold.jobs j cross join moment m where j.state in ('claimed', 'running')
)
select count(*) filter (where f.is_alive and f.state = 'ready'), count(*) filter (where f.is_alive and f.state = 'paused'),
       count(*) filter (where f.is_alive and f.state = 'draining'), count(*) filter (where not f.is_alive),
       count(*) filter (where f.is_alive and f.backoff is not null), greatest(0, least(count(*) filter (where f.is_alive), 32) - count(*) filter (where f.is_alive and f.hears)),
       coalesce(sum(f.slots) filter (where f.is_alive and f.state = 'ready'), 0),
       (select h.jobs from held h), (select h.overdue from held h),
       (select coalesce(sum(w.lost_jobs), 0)::bigint from leasehold.workers w), (select coalesce(sum(w.lost_wake_ups), 0)::bigint from leasehold.workers w)
  from fleet f
$$;
