-- Purpose     Show one job, finished or not. A finished one is looked for in the partitions of the two days after it was
--             enqueued, then in those of the last day, and in all others only if it is in neither.
-- Parameters  job_id
-- Returns     a row of all_jobs, or none
-- Errors      none
-- Tables      jobs, id_marks, finished_jobs (read)
create or replace function leasehold.get_job(job_id bigint) returns setof leasehold.all_jobs language plpgsql stable strict rows 1
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off as $$
declare
    v_since timestamptz;
    v_last  timestamptz := leasehold.clock() - interval '1 day';
begin
    return query select * from leasehold.all_jobs a where a.id = get_job.job_id and a.finished_at is null;
    if found then
        return;
    end if;
    v_since := coalesce((select m.taken_at from leasehold.id_marks m where m.last_id < get_job.job_id order by m.last_id desc limit 1), v_last);
    return query select * from leasehold.all_jobs a
                  where a.id = get_job.job_id and a.finished_at >= v_since and a.finished_at < v_since + interval '2 days' limit 1;
    if found then
        return;
    end if;
    if v_since < v_last then
        return query select * from leasehold.all_jobs a
                      where a.id = get_job.job_id and a.finished_at >= v_last and a.finished_at < v_last + interval '2 days' limit 1;
        if found then
            return;
        end if;
    end if;
    return query select * from leasehold.all_jobs a where a.id = get_job.job_id order by a.finished_at desc nulls first limit 1;
end
$$;
