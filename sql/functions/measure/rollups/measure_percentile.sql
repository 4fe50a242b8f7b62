-- Purpose     Estimate a percentile of the times in a histogram. Within a bucket times are taken to be spread evenly,
--             so the answer is off by a factor of two at most, and usually by far less.
-- Parameters  histogram: 29 counts · share: 0.95 for the 95th percentile
-- Returns     seconds; null where nothing was counted. What lies beyond the last bound is taken for that bound.
-- Errors      none
-- Tables      none
create or replace function leasehold.measure_percentile(histogram bigint[], share double precision) returns double precision
language sql immutable parallel safe
set search_path = leasehold, pg_catalog, pg_temp as $$
select case when h.bucket = 29 then b.bounds[28]
            else coalesce(b.bounds[h.bucket - 1], 0) + (b.bounds[h.bucket] - coalesce(b.bounds[h.bucket - 1], 0))
                 * greatest(0, (h.wanted - h.before) / h.jobs) end::double precision
  from (select u.position::integer as bucket, u.jobs, sum(u.jobs) over w as upto, sum(u.jobs) over w - u.jobs as before,
               measure_percentile.share * sum(u.jobs) over () as wanted
          from unnest(measure_percentile.histogram) with ordinality u(jobs, position)
        window w as (order by u.position)) h
 cross join (select leasehold.bucket_bounds() as bounds) b
 where h.jobs > 0 and h.upto >= h.wanted
 order by h.bucket limit 1
$$;
