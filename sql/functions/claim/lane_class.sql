-- Purpose     Tell the class of a job's lane: 0 plain jobs, 1 jobs with a key group, 2 suspects, 3 suspects under which two
--             processes have died. The index jobs_pending has it as its third column, written out.
-- Parameters  crashes, key_group: of the job
-- Returns     the class
-- Errors      none
-- Tables      none
create or replace function leasehold.lane_class(crashes integer, key_group text) returns integer language sql immutable parallel safe as $$
select coalesce(($1 > 1)::integer + 2, ($2 is not null)::integer)
$$;
