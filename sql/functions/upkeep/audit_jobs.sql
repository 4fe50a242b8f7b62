-- Purpose     Look for inconsistent jobs and for jobs that are stuck; explain each finding and, if asked, repair it.
--             A repair is what an actor would do by itself; so a finding means that this actor does not run, or that
--             somebody changed rows by hand. Looking locks nothing. Repairing holds the locks of all repairs until
--             the transaction ends; `leasehold audit --repair` makes each in a transaction of its own.
-- Parameters  repair: do it, and write it to the events of the jobs · grace: how long a thing may be overdue
-- Returns     finding: these can be repaired: held_by_nobody, overdue, deadline_missed, waiting_for_nobody,
--                      blocked_by_nothing, edge_of_nobody, partition_missing, rows_in_default_partition; these are for
--                      people: unserved, blocked_for_ever, waits_in_a_circle, unheeded_blocker, succession_lost, two_tails, open_and_finished,
--                      attempts_absurd, partition_orphaned, tick_overdue, schedule_unplanned
--             job_id: where it is about one · subject: a job or kind or schedule or table · explanation: for people · is_repaired
-- Errors      none
-- Tables      as find_faults and repair_fault
create or replace function leasehold.audit_jobs(repair boolean default false, grace interval default '1 minute')
returns table (finding text, job_id bigint, subject text, explanation text, is_repaired boolean) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_fault record;
begin
    for v_fault in select * from leasehold.find_faults(audit_jobs.grace) loop
        return query
        select v_fault.finding, v_fault.job_id, v_fault.subject, v_fault.explanation,
               audit_jobs.repair and leasehold.repair_fault(v_fault.finding, v_fault.job_id, v_fault.subject, v_fault.explanation);
    end loop;
end
$$;
