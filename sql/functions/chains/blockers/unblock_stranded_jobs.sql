-- Purpose     Find blocked jobs whose chains have all completed, and unblock them. It happens when a job was enqueued
--             while its blocker completed: neither transaction could see the other. The reaper goes through all of
--             them in turn.
-- Parameters  after_id: go on behind this job; 0 to begin · batch: how many blocked jobs to look at, at the most
-- Returns     how many were found, and the id to go on behind (null: that was the last)
-- Errors      none
-- Tables      jobs, job_blockers (read), as unblock_jobs with locked rows left alone, keys as promote_waiting_jobs
create or replace function leasehold.unblock_stranded_jobs(after_id bigint default 0, batch integer default 1000)
returns table (found integer, last_id bigint) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_ids      bigint[];
    v_stranded bigint[];
begin
    v_ids := array(select j.id from leasehold.jobs j
                    where j.state = 'blocked' and j.id > unblock_stranded_jobs.after_id order by j.id limit unblock_stranded_jobs.batch);
    v_stranded := array(select u.id from unnest(v_ids) u(id)
                         where (select b.chain_id from leasehold.job_blockers b
                                 where b.job_id = u.id and b.closed_at is null and b.slot > 0 and not leasehold.is_over(b.chain_id, b.until_ended)
                                 order by b.chain_id desc limit 1) is null);
    if v_stranded <> '{}' then
        perform leasehold.promote_waiting_jobs(leasehold.unblock_jobs(v_stranded, true));
    end if;
    return query
    select cardinality(v_stranded),
           case when cardinality(v_ids) = unblock_stranded_jobs.batch then v_ids[cardinality(v_ids)] end;
end
$$;
