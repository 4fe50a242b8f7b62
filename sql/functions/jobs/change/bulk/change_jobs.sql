-- Purpose     Change the contents of jobs that nobody holds. The caller promotes the keys and wakes the queues.
-- Parameters  job_ids: which, each once; args, metadata: JSON for each, or null to leave it · priorities, queues, max_attempts,
--             run_ats: likewise; each an array as long as job_ids, or null
-- Returns     the jobs as they are now; nothing for one that is held, finished or unknown
-- Errors      none
-- Tables      jobs (in id order)
create or replace function leasehold.change_jobs(
    job_ids bigint[], args jsonb[], metadata jsonb[], priorities integer[], queues text[], max_attempts integer[], run_ats timestamptz[]
) returns setof leasehold.jobs language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_now timestamptz := leasehold.clock();
begin
    perform from leasehold.jobs j where j.id = any (change_jobs.job_ids) order by j.id for no key update;
    return query
    update leasehold.jobs j
       set args = coalesce(c.args, j.args), metadata = coalesce(c.metadata, j.metadata), priority = coalesce(c.priority, j.priority),
           queue = coalesce(c.queue, j.queue), max_attempts = coalesce(c.max_attempts, j.max_attempts), run_at = coalesce(c.run_at, j.run_at),
           pending_at = case when exists (select from leasehold.lane_marks) then v_now end,
           state = case when j.state = 'blocked' then 'blocked' when coalesce(c.run_at, j.run_at) > v_now then 'scheduled'
                        when j.key is null then 'pending' else 'waiting' end
      from unnest(change_jobs.job_ids, change_jobs.args, change_jobs.metadata, change_jobs.priorities, change_jobs.queues,
                  change_jobs.max_attempts, change_jobs.run_ats) c(id, args, metadata, priority, queue, max_attempts, run_at)
     cross join lateral (select o.ctid as place from leasehold.jobs o where o.id = c.id offset 0) p
     where j.ctid = p.place and j.incarnation is null
    returning j.*;
end
$$;
