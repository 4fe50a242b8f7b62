-- Purpose     Repair the findings of audit_jobs that can be repaired, and write that into the events of the jobs. A repair is
--             what an actor would do by itself; so a finding means that this actor does not run, or that somebody
--             changed rows by hand. It holds the locks of all repairs until the transaction ends; `leasehold audit --repair`
--             makes each in a transaction of its own.
-- Parameters  grace: how long a thing may be overdue
-- Returns     as audit_jobs · is_repaired: whether it is gone now
-- Errors      none
-- Tables      as find_faults and repair_fault
create or replace function leasehold.repair_jobs(grace interval default '1 minute')
returns table (finding text, job_id bigint, subject text, explanation text, is_repaired boolean) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_fault record;
begin
    for v_fault in select * from leasehold.find_faults(repair_jobs.grace) loop
        return query
        select v_fault.finding, v_fault.job_id, v_fault.subject, v_fault.explanation,
               leasehold.repair_fault(v_fault.finding, v_fault.job_id, v_fault.subject, v_fault.explanation);
    end loop;
end
$$;
