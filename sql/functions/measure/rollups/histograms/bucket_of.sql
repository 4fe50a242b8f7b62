-- Purpose     Tell which bucket of a histogram a time falls into.
-- Parameters  seconds: how long it took
-- Returns     0 to 28, as bucket_bounds() lists them; null for null
-- Errors      none
-- Tables      none
create or replace function leasehold.bucket_of(seconds double precision) returns integer
language sql immutable parallel safe as $$
select case when seconds is not null
            then least(28, ceil(ln(greatest(seconds, 0.001) * 1000) / 0.6931471805599453 - 1e-9))::integer end
$$;
