-- Purpose     What time it is. Every other function asks here, so that a test can freeze or move time for its session:
--             set leasehold.frozen_clock = '2026-01-01 00:00:00+00'.
-- Parameters  none
-- Returns     the frozen time where the setting is set, else the wall clock of the database
-- Errors      none
-- Tables      none
-- Callers     every function
create or replace function leasehold.clock() returns timestamptz
language sql volatile parallel safe as $$
select coalesce(nullif(pg_catalog.current_setting('leasehold.frozen_clock', true), '')::timestamptz,
                pg_catalog.clock_timestamp())
$$;
