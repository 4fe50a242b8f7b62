-- Purpose     Repair one finding of find_faults, with the function that an actor would have called.
-- Parameters  finding, job_id: of the finding
-- Returns     whether it is repaired now; false for what only people can decide
-- Errors      none
-- Tables      as the functions that it calls
-- Callers     audit_jobs
create or replace function leasehold.repair_fault(finding text, job_id bigint) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
begin
    case repair_fault.finding
        when 'held_by_nobody' then
            perform leasehold.reap_jobs();
            return not exists (select from leasehold.jobs j where j.id = repair_fault.job_id and j.lease_expires_at < leasehold.clock());
        when 'overdue' then
            perform leasehold.make_jobs_due(10000);
            return not exists (select from leasehold.jobs j where j.id = repair_fault.job_id and j.state = 'scheduled' and j.run_at < leasehold.clock());
        when 'deadline_missed' then
            perform leasehold.expire_jobs();
            return not exists (select from leasehold.jobs j where j.id = repair_fault.job_id and j.deadline < leasehold.clock());
        when 'waiting_for_nobody' then
            perform leasehold.promote_waiting_jobs(array[j.key]) from leasehold.jobs j where j.id = repair_fault.job_id;
            return not exists (select from leasehold.jobs j where j.id = repair_fault.job_id and j.state = 'waiting');
        when 'blocked_by_nothing' then
            perform leasehold.promote_waiting_jobs(leasehold.unblock_jobs(array[repair_fault.job_id], true));
            return not exists (select from leasehold.jobs j where j.id = repair_fault.job_id and j.state = 'blocked');
        when 'unmarked_limit' then
            update leasehold.jobs j set limited = true where j.id = repair_fault.job_id and j.incarnation is not null;
            return true;
        when 'partition_missing', 'rows_in_default_partition' then
            return leasehold.ensure_partitions() > 0;
        else
            return false;
    end case;
end
$$;
