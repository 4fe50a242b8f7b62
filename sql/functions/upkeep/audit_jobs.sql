-- Purpose     Look for inconsistent jobs and for jobs that are stuck, and explain each finding. Looking changes and locks
--             nothing. repair_jobs repairs what can be repaired.
-- Parameters  grace: how long a thing may be overdue
-- Returns     finding: these can be repaired: held_by_nobody, overdue, deadline_missed, waiting_for_nobody,
--                      blocked_by_nothing, edge_of_nobody, partition_missing, rows_in_default_partition; these are for
--                      people: unserved, blocked_for_ever, waits_in_a_circle, unheeded_blocker, succession_lost, two_tails, open_and_finished,
--                      attempts_absurd, partition_orphaned, tick_overdue, schedule_unplanned
--             job_id: where it is about one · subject: a job or kind or schedule or table · explanation: for people
-- Errors      none
-- Tables      as find_faults
create or replace function leasehold.audit_jobs(grace interval default '1 minute')
returns table (finding text, job_id bigint, subject text, explanation text) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
select f.finding, f.job_id, f.subject, f.explanation from leasehold.find_faults(audit_jobs.grace) f
$$;
