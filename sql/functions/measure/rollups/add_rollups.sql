-- Purpose     Add the minutes of a span to the totals, or subtract them before they are written again.
-- Parameters  since, until: the span, its end not included · sign: 1 adds, -1 takes off
-- Returns     nothing
-- Errors      none
-- Tables      rollups (read), rollup_totals (upsert)
create or replace function leasehold.add_rollups(since timestamptz, until timestamptz, sign integer) returns void language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
insert into leasehold.rollup_totals as t (queue, since, last_completed_at, arrivals, starts, completed, failed, cancelled, retries,
       wait_seconds, run_seconds, waits, runs)
select r.queue, min(r.starts_at), max(r.last_completed_at), sign * sum(r.arrivals), sign * sum(r.starts), sign * sum(r.completed), sign * sum(r.failed),
       sign * sum(r.cancelled), sign * sum(r.retries), sign * sum(r.wait_seconds), sign * sum(r.run_seconds),
       array(select sign * n from unnest(leasehold.add_histograms(array_agg(r.waits))) n),
       array(select sign * n from unnest(leasehold.add_histograms(array_agg(r.runs))) n)
  from leasehold.rollups r
 where r.starts_at >= add_rollups.since and r.starts_at < add_rollups.until
 group by r.queue
 order by r.queue
on conflict (queue) do update set
       last_completed_at = greatest(t.last_completed_at, excluded.last_completed_at),
       arrivals = t.arrivals + excluded.arrivals, starts = t.starts + excluded.starts, completed = t.completed + excluded.completed,
       failed = t.failed + excluded.failed, cancelled = t.cancelled + excluded.cancelled, retries = t.retries + excluded.retries,
       wait_seconds = t.wait_seconds + excluded.wait_seconds, run_seconds = t.run_seconds + excluded.run_seconds,
       waits = leasehold.add_histograms(array[t.waits, excluded.waits]), runs = leasehold.add_histograms(array[t.runs, excluded.runs])
$$;
