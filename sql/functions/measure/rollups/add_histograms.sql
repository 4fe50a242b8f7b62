-- Purpose     Add histograms up, bucket by bucket.
-- Parameters  histograms: any number of them as one array of two dimensions, as array_agg makes it
-- Returns     29 counts
-- Errors      none
-- Tables      none
create or replace function leasehold.add_histograms(histograms bigint[]) returns bigint[]
language sql immutable parallel safe
set search_path = leasehold, pg_catalog, pg_temp as $$
select array_agg(coalesce(c.jobs, 0) order by b.bucket)
  from generate_series(0, 28) b(bucket)
  left join (select (u.position - 1) % 29 as bucket, sum(u.jobs)::bigint as jobs
               from unnest(add_histograms.histograms) with ordinality u(jobs, position) group by 1) c on c.bucket = b.bucket
$$;
