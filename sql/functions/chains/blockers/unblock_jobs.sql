-- Purpose     Make blocked jobs claimable that no chain blocks any more; they take their place behind what was due
--             before. The rows are locked first and judged afterwards in a statement of its own: of two chains that
--             complete at the same moment, the later sees what the earlier wrote. An edge whose chain has ended
--             unnoticed (it was written while the chain ended) is closed here.
-- Parameters  job_ids: which; those that are not blocked are left alone · skip_locked: leave those that somebody else has
-- Returns     keys of unblocked jobs: the caller promotes them
-- Errors      none
-- Tables      jobs (in id order), job_blockers (update), job_events (insert)
create or replace function leasehold.unblock_jobs(job_ids bigint[], skip_locked boolean default false) returns text[] language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_now    timestamptz := leasehold.clock();
    v_ids    bigint[];
    v_keys   text[];
    v_queues text[];
begin
    if unblock_jobs.skip_locked then
        v_ids := array(select j.id from leasehold.jobs j
                        where j.id = any (unblock_jobs.job_ids) and j.state = 'blocked' order by j.id for update skip locked);
    else
        v_ids := array(select j.id from leasehold.jobs j
                        where j.id = any (unblock_jobs.job_ids) and j.state = 'blocked' order by j.id for update);
    end if;
    -- One open chain is enough to keep a job blocked: of ten thousand edges one is looked at. The youngest, because the
    -- oldest mostly completes first, and entries of closed edges stay in the index until the vacuum comes.
    v_ids := array(select u.id from unnest(v_ids) u(id)
                    where (select b.chain_id from leasehold.job_blockers b
                            where b.job_id = u.id and b.closed_at is null and b.slot > 0 and not leasehold.is_over(b.chain_id, b.until_ended)
                            order by b.chain_id desc limit 1) is null);
    if v_ids = '{}' then
        return '{}';
    end if;
    update leasehold.job_blockers b set closed_at = t.finished_at, output = t.output, end_state = nullif(t.state, 'completed')
      from (select distinct o.chain_id from leasehold.job_blockers o where o.job_id = any (v_ids) and o.closed_at is null and o.slot > 0) c
     cross join lateral leasehold.chain_tail(c.chain_id) t
     where b.job_id = any (v_ids) and b.chain_id = c.chain_id and b.closed_at is null;
    with freed as (
        update leasehold.jobs j
           set state = case when j.run_at > v_now then 'scheduled' when j.key is null then 'pending' else 'waiting' end,
               run_at = greatest(j.run_at, v_now), pending_at = null
         where j.id = any (v_ids) and j.state = 'blocked'
        returning j.id, j.attempt, j.key, j.queue, j.state, j.run_at
    ), noted as (
        insert into leasehold.job_events (job_id, at, event, attempt) select f.id, v_now, 'unblocked', f.attempt from freed f
    )
    select array_agg(f.key) filter (where f.key is not null),
           array_agg(distinct f.queue) filter (where f.state = 'pending' or (f.state = 'scheduled' and f.run_at < v_now + interval '2 minutes'))
      into v_keys, v_queues from freed f;
    if v_queues is not null then
        perform leasehold.wake_idle_workers(v_queues);
    end if;
    return coalesce(v_keys, '{}');
end
$$;
