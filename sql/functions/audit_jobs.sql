-- Purpose     Look for what should never be, or should not be for long: each fault explained and, if wished, repaired. Every
--             repair is one that an actor would make by itself; that there was something to find means that this actor
--             does not run, or that somebody changed rows by hand.
-- Parameters  repair: do it, and write it to the events of the jobs · grace: how long a thing may be overdue
-- Returns     finding: held_by_nobody, overdue, deadline_missed, waiting_for_nobody, blocked_by_nothing, unmarked_limit,
--                      partition_missing, rows_in_default_partition (these can be repaired), blocked_for_ever,
--                      edge_of_nobody, two_tails, open_and_finished, partition_orphaned (these are for people)
--             subject: a job or table · explanation: for people · is_repaired
-- Errors      none
-- Tables      as find_faults and repair_fault, job_events (insert)
-- Callers     clients, psql
create or replace function leasehold.audit_jobs(repair boolean default false, grace interval default '1 minute')
returns table (finding text, subject text, explanation text, is_repaired boolean) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_fault    record;
    v_repaired boolean;
begin
    for v_fault in select * from leasehold.find_faults(audit_jobs.grace) loop
        v_repaired := audit_jobs.repair and leasehold.repair_fault(v_fault.finding, v_fault.job_id);
        if v_repaired and v_fault.job_id is not null then
            insert into leasehold.job_events (job_id, at, event, attempt, message)
            select v_fault.job_id, leasehold.clock(), 'audited', coalesce(j.attempt, 0), v_fault.finding || ': ' || v_fault.explanation
              from (select) one left join leasehold.jobs j on j.id = v_fault.job_id;
        end if;
        return query select v_fault.finding, v_fault.subject, v_fault.explanation, v_repaired;
    end loop;
end
$$;
