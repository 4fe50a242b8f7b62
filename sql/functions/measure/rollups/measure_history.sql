-- Purpose     Show what happened in a queue over the last hours, in steps of equal length, for charts. It reads rollups only: 60 rows for
--             an hour, 3000 for a week.
-- Parameters  queue: which · hours: how far back, above 0 and at most 720 · points: how many steps, 1 to 500; none is shorter than a
--             minute, and for what is older than two days an hour is told with its first minute
-- Returns     at: when a step began, the oldest first, those without events, too; the last one ends with the last minute that is closed
--             seconds: how long one is · arrivals, starts, completed, failed, cancelled, retries: how many · average_wait, average_run,
--             their 50th and 95th percentiles in seconds, null where nothing ended; nothing where no minute was ever closed
-- Errors      LH001 hours or points out of range
-- Tables      rollups, rollup_progress (read)
create or replace function leasehold.measure_history(queue text, hours double precision default 1, points integer default 60)
returns table ("at" timestamptz, seconds double precision, arrivals bigint, starts bigint, completed bigint, failed bigint, cancelled bigint,
               retries bigint, average_wait double precision, p50_wait double precision, p95_wait double precision,
               average_run double precision, p50_run double precision, p95_run double precision) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_step  double precision;
    v_steps integer;
begin
    if (measure_history.hours > 0 and measure_history.hours <= 720) is not true then
        raise exception using errcode = 'LH001', message = format('hours must be above 0 and at most 720, not %s', coalesce(measure_history.hours::text, 'null'));
    elsif coalesce(measure_history.points, 0) not between 1 and 500 then
        raise exception using errcode = 'LH001', message = format('points must be from 1 to 500, not %s', coalesce(measure_history.points::text, 'null'));
    end if;
    v_step := greatest(1, ceil(measure_history.hours * 60 / measure_history.points)) * 60;
    v_steps := greatest(1, round(measure_history.hours * 3600 / v_step));
    return query
    with booked as materialized (
        select floor(extract(epoch from p.rolled_until - r.starts_at - interval '1 minute') / v_step)::integer as back, r.*
          from leasehold.rollup_progress p
          join leasehold.rollups r on r.queue = measure_history.queue and r.starts_at >= p.rolled_until - make_interval(secs => v_step * v_steps)
                                  and r.starts_at < p.rolled_until
    ), summed as materialized (
        select b.back, sum(b.arrivals)::bigint as arrivals, sum(b.starts)::bigint as starts, sum(b.completed)::bigint as completed,
               sum(b.failed)::bigint as failed, sum(b.cancelled)::bigint as cancelled, sum(b.retries)::bigint as retries,
               sum(b.wait_seconds) as wait_seconds, sum(b.run_seconds) as run_seconds,
               leasehold.add_histograms(array_agg(b.waits)) as waits, leasehold.add_histograms(array_agg(b.runs)) as runs
          from booked b group by b.back
    )
    select p.rolled_until - make_interval(secs => v_step * (g.back + 1)), v_step, coalesce(s.arrivals, 0), coalesce(s.starts, 0), coalesce(s.completed, 0),
           coalesce(s.failed, 0), coalesce(s.cancelled, 0), coalesce(s.retries, 0),
           s.wait_seconds / nullif((select sum(n) from unnest(s.waits) n), 0)::double precision,
           leasehold.measure_percentile(s.waits, 0.5), leasehold.measure_percentile(s.waits, 0.95),
           s.run_seconds / nullif((select sum(n) from unnest(s.runs) n), 0)::double precision,
           leasehold.measure_percentile(s.runs, 0.5), leasehold.measure_percentile(s.runs, 0.95)
      from leasehold.rollup_progress p
     cross join generate_series(0, v_steps - 1) g(back)
      left join summed s on s.back = g.back
     where p.rolled_until is not null
     order by g.back desc;
end
$$;
