-- Purpose     Complete one attempt in the caller's own transaction. What the caller wrote, the output and the further
--             jobs commit together, exactly once, or not at all.
-- Parameters  job_id, attempt, incarnation: the identity · output: JSON · continuation: as continue_jobs
--             ran_for: seconds since the handler started
-- Returns     ids of the new jobs, the next one last
-- Errors      LH003 this attempt does not hold the job any more (also when it has been settled already): roll back
--             LH001 the continuation is refused · LH006 a unique job is there already
-- Tables      jobs (it waits for a row that another session holds: the caller's own lock_timeout counts), as apply_continuations
create or replace function leasehold.complete_job(
    job_id bigint, attempt integer, incarnation uuid, output jsonb default null, continuation jsonb default null,
    ran_for double precision default null
) returns bigint[] language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_new bigint[];
begin
    perform from leasehold.jobs j
      where j.id = complete_job.job_id and j.attempt = complete_job.attempt and j.incarnation = complete_job.incarnation
        for update;
    if found then
        select a.new_ids into v_new
          from leasehold.apply_continuations(array[complete_job.job_id], array[complete_job.continuation], array[complete_job.output],
                                             array[complete_job.ran_for]) a;
    end if;
    if v_new is null then
        raise exception using errcode = 'LH003',
            message = format('attempt %s does not hold job %s any more', complete_job.attempt, complete_job.job_id),
            hint = 'roll back: another attempt runs or has run, or this one was completed before';
    end if;
    return v_new;
end
$$;
