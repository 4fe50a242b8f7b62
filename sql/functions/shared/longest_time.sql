-- Purpose     Tell the longest time that anybody may ask for, in seconds: a hundred years. Longer times are refused,
--             or cut to it.
-- Parameters  none
-- Returns     3155760000
-- Errors      none
-- Tables      none
create or replace function leasehold.longest_time() returns bigint language sql immutable parallel safe as $$
select 3155760000
$$;
