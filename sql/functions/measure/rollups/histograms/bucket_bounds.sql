-- Purpose     List the upper bounds of the buckets of every histogram of times: a millisecond, doubled 27 times (37
--             hours). The 29th and last bucket has none.
-- Parameters  none
-- Returns     28 bounds in seconds; what is longer falls into the last bucket
-- Errors      none
-- Tables      none
create or replace function leasehold.bucket_bounds() returns double precision[]
language sql immutable parallel safe
set search_path = leasehold, pg_catalog, pg_temp as $$
select array_agg(0.001 * power(2.0::double precision, k) order by k) from generate_series(0, 27) k
$$;
