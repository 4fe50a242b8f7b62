-- Purpose     Repair one finding of find_faults, with the function that an actor would have called, and write that
--             into the events of the job. To repair many on a busy database, use a transaction for each.
-- Parameters  finding, job_id, subject, explanation: as find_faults has them
-- Returns     whether it is gone now; false for what only people can decide, or what somebody else has locked
-- Errors      none
-- Tables      as the functions that it calls, job_events (insert)
create or replace function leasehold.repair_fault(finding text, job_id bigint, subject text, explanation text) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_now   timestamptz := leasehold.clock();
    v_job   leasehold.jobs;
    v_there boolean;
begin
    for round in 1 .. 2 loop
        select * into v_job from leasehold.jobs j where j.id = repair_fault.job_id;
        v_there := case repair_fault.finding
            when 'held_by_nobody' then v_job.lease_expires_at <= v_now
            when 'overdue' then v_job.state = 'scheduled' and v_job.run_at <= v_now
            when 'deadline_missed' then v_job.deadline <= v_now
            when 'waiting_for_nobody' then v_job.state = 'waiting'
            when 'blocked_by_nothing' then v_job.state = 'blocked'
            when 'edge_of_nobody' then v_job.id is null
                 and exists (select from leasehold.job_blockers b where b.job_id = repair_fault.job_id and b.closed_at is null)
            when 'partition_missing' then exists (
                 select from leasehold.find_faults(interval '1 hour') f where f.finding = 'partition_missing' and f.subject = repair_fault.subject)
            when 'rows_in_default_partition' then exists (
                 select from leasehold.find_faults(interval '1 hour') f where f.finding = 'rows_in_default_partition' and f.subject = repair_fault.subject)
            else null end;
        exit when round = 2 or not coalesce(v_there, false);
        case repair_fault.finding
            when 'held_by_nobody' then perform leasehold.reap_jobs();
            when 'overdue' then perform leasehold.make_jobs_due(1000);
            when 'deadline_missed' then perform leasehold.expire_jobs();
            when 'waiting_for_nobody' then perform leasehold.promote_waiting_jobs(array[v_job.key]);
            when 'blocked_by_nothing' then perform leasehold.promote_waiting_jobs(leasehold.unblock_jobs(array[v_job.id], true));
            when 'edge_of_nobody' then delete from leasehold.job_blockers b where b.job_id = repair_fault.job_id and b.closed_at is null;
            else perform leasehold.ensure_partitions();
        end case;
    end loop;
    if repair_fault.finding not in ('held_by_nobody', 'overdue', 'deadline_missed', 'waiting_for_nobody', 'blocked_by_nothing', 'edge_of_nobody',
                                    'partition_missing', 'rows_in_default_partition') or v_there then
        return false;
    end if;
    insert into leasehold.job_events (job_id, at, event, attempt, message)
    select a.id, leasehold.clock(), 'audited', a.attempt, repair_fault.finding || ': ' || repair_fault.explanation
      from leasehold.all_jobs a where a.id = repair_fault.job_id limit 1;
    return true;
end
$$;
