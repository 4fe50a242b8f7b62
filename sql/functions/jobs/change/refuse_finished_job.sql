-- Purpose     Raise the right error for a job that is not among the unfinished ones.
-- Parameters  job_id · wish: what was asked for, as a participle
-- Returns     never
-- Errors      LH002 no such job · LH004 it has finished
-- Tables      finished_jobs, jobs (read)
create or replace function leasehold.refuse_finished_job(job_id bigint, wish text) returns void language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_state text := (select f.state from leasehold.finished_jobs f where f.id = refuse_finished_job.job_id
                      order by f.finished_at desc limit 1);
begin
    if v_state is null then
        -- Somebody may have retried it since the caller looked.
        select j.state into v_state from leasehold.jobs j where j.id = refuse_finished_job.job_id;
    end if;
    if v_state is null then
        raise exception using errcode = 'LH002', message = format('there is no job %s', refuse_finished_job.job_id);
    end if;
    raise exception using errcode = 'LH004', message = format(
        'job %s is %s and cannot be %s', refuse_finished_job.job_id, v_state, refuse_finished_job.wish);
end
$$;
