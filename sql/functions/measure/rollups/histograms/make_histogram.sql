-- Purpose     Make a histogram out of counts of single buckets.
-- Parameters  buckets: which, nulls among them count nowhere · counts: how many in each of them
-- Returns     29 counts
-- Errors      none
-- Tables      none
create or replace function leasehold.make_histogram(buckets integer[], counts bigint[]) returns bigint[]
language sql immutable parallel safe
set search_path = leasehold, pg_catalog, pg_temp as $$
select array_agg(coalesce(c.jobs, 0) order by b.bucket)
  from generate_series(0, 28) b(bucket)
  left join (select u.bucket, sum(u.jobs)::bigint as jobs from unnest(make_histogram.buckets, make_histogram.counts) u(bucket, jobs)
              group by u.bucket) c on c.bucket = b.bucket
$$;
