-- Purpose     Tell how many processes may die under a job before it is put in quarantine. It then fails, whatever
--             attempts are left.
-- Parameters  none
-- Returns     3
-- Errors      none
-- Tables      none
create or replace function leasehold.most_crashes() returns integer language sql immutable parallel safe as $$
select 3
$$;
