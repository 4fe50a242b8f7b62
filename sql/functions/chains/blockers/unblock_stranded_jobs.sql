-- Purpose     Find blocked jobs whose chains are all over, and unblock them. It happens when a job was enqueued while its
--             blocker completed: neither transaction could see the other. The jobs are looked at in the order of their
--             times, a batch in each call: the reaper looks at the latest in each round, and goes through the others in
--             turn. A job that may not run yet is left until it may.
-- Parameters  after_run_at, after_id: go on behind this job; null for both to begin · batch: how many blocked jobs to look at, at
--             the most
-- Returns     found: how many were found · last_run_at, last_id: the job to go on behind (null: that was the last)
-- Errors      none
-- Tables      jobs, job_blockers, finished_jobs (read), as unblock_jobs with locked rows left alone, keys as promote_waiting_jobs
create or replace function leasehold.unblock_stranded_jobs(
    after_run_at timestamptz default null, after_id bigint default null, batch integer default 1000
) returns table (found integer, last_run_at timestamptz, last_id bigint) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_now      timestamptz := leasehold.clock();
    v_from     timestamptz := coalesce(unblock_stranded_jobs.after_run_at, '-infinity');
    v_id       bigint := coalesce(unblock_stranded_jobs.after_id, 0);
    v_ids      bigint[];
    v_doubtful bigint[];
    v_stranded bigint[];
    v_found integer := 0;
    v_last_run_at timestamptz;
    v_last_id     bigint;
begin
    v_ids := array(select j.id from leasehold.jobs j
                    where j.state = 'blocked' and j.run_at > '-infinity' and (j.run_at, j.id) > (v_from, v_id) and j.run_at <= v_now
                    order by j.run_at, j.id limit unblock_stranded_jobs.batch);
    if cardinality(v_ids) = unblock_stranded_jobs.batch then
        select j.run_at, j.id into v_last_run_at, v_last_id from leasehold.jobs j where j.id = v_ids[cardinality(v_ids)];
    end if;
    -- Of nearly all, one blocker is plainly unfinished: the youngest. The others are judged by all of their chains.
    v_doubtful := array(select u.id from unnest(v_ids) u(id)
                          left join lateral (select b.chain_id from leasehold.job_blockers b
                                              where b.job_id = u.id and b.closed_at is null and b.slot > 0 order by b.chain_id desc limit 1) e on true
                         where (select o.id from leasehold.jobs o where o.id = e.chain_id and o.chain_id is null limit 1) is null
                           and (select o.id from leasehold.jobs o where o.chain_id = e.chain_id limit 1) is null);
    if v_doubtful <> '{}' then
        v_stranded := array(select u.id from unnest(v_doubtful) u(id)
                             where (select b.chain_id from leasehold.job_blockers b
                                     where b.job_id = u.id and b.closed_at is null and b.slot > 0 and not leasehold.is_over(b.chain_id, b.until_ended)
                                     order by b.chain_id desc limit 1) is null);
        v_found := cardinality(v_stranded);
    end if;
    if v_found > 0 then
        perform leasehold.promote_waiting_jobs(leasehold.unblock_jobs(v_stranded, true));
    end if;
    return query select v_found, v_last_run_at, v_last_id;
end
$$;
