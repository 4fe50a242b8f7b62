-- Purpose     Tell the time. Every other function asks here, so that a test can freeze or move time for its session:
--             set leasehold.frozen_clock = '2026-01-01 00:00:00+00'. Functions that run with the rights of their
--             owner (see `leasehold grants`) do not let their callers move it.
-- Parameters  none
-- Returns     the frozen time where the setting is set, else the wall clock of the database
-- Errors      none
-- Tables      none
create or replace function leasehold.clock() returns timestamptz
language sql volatile parallel safe as $$
select coalesce(case when nullif(pg_catalog.current_setting('leasehold.frozen_clock', true), '') is not null and current_user = session_user
                     then pg_catalog.current_setting('leasehold.frozen_clock')::timestamptz end,
                pg_catalog.clock_timestamp())
$$;
