-- Purpose     Show what happened in the last minutes, by queue. Only whole minutes count; the last one ended some
--             seconds to two minutes ago.
-- Parameters  queue: only this one · minutes: how many, 1 to 2880 (they are kept for two days)
-- Returns     queue, since and until: what the figures are of, and seconds between them · arrivals, starts, completed, failed,
--             cancelled, retries: how many · average_wait, average_run, their 50th and 95th percentiles, in seconds, null where
--             nothing ended · run_variation: the squared coefficient of variation of run times
-- Errors      LH001 minutes out of range
-- Tables      rollups, rollup_totals, rollup_progress (read)
create or replace function leasehold.get_rates(queue text default null, minutes integer default 60)
returns setof leasehold.queue_rates language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
begin
    if coalesce(get_rates.minutes, 0) not between 1 and 2880 then
        raise exception using errcode = 'LH001', message = format('minutes must be from 1 to 2880, not %s', coalesce(get_rates.minutes::text, 'null'));
    end if;
    return query
    select s.queue, p.rolled_until - make_interval(mins => get_rates.minutes), p.rolled_until, get_rates.minutes * 60.0::double precision,
           s.arrivals, s.starts, s.completed, s.failed, s.cancelled, s.retries, s.wait_seconds / s.waited, s.run_seconds / s.ran,
           leasehold.measure_percentile(s.waits, 0.5), leasehold.measure_percentile(s.waits, 0.95),
           leasehold.measure_percentile(s.runs, 0.5), leasehold.measure_percentile(s.runs, 0.95),
           case when s.run_seconds > 0 then greatest(0, s.ran * s.run_squares / (s.run_seconds * s.run_seconds) - 1) end
      from leasehold.rollup_progress p
     cross join lateral (
           select t.*, nullif((select sum(n) from unnest(t.waits) n), 0)::double precision as waited,
                  nullif((select sum(n) from unnest(t.runs) n), 0)::double precision as ran
             from (select r.queue, sum(r.arrivals)::bigint as arrivals, sum(r.starts)::bigint as starts, sum(r.completed)::bigint as completed,
                          sum(r.failed)::bigint as failed, sum(r.cancelled)::bigint as cancelled, sum(r.retries)::bigint as retries,
                          sum(r.wait_seconds) as wait_seconds, sum(r.run_seconds) as run_seconds, sum(r.run_squares) as run_squares,
                          leasehold.add_histograms(array_agg(r.waits)) as waits, leasehold.add_histograms(array_agg(r.runs)) as runs
                     -- By queue, because the index begins with it: a few of its entries for each.
                     from leasehold.rollup_totals k
                    cross join lateral (select o.* from leasehold.rollups o
                                         where o.queue = k.queue and o.starts_at >= p.rolled_until - make_interval(mins => get_rates.minutes)) r
                    where get_rates.queue is null or k.queue = get_rates.queue
                    group by r.queue) t) s
     order by s.queue;
end
$$;
