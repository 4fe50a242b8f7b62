-- Purpose     Give keys that nobody holds to their best waiting jobs: for each queue and kind without a pending job
--             of the key, one becomes pending. For each queue and kind, because a job that nobody can claim now (its
--             queue is paused, no worker serves its kind) must not stall the key's other jobs. Every function that
--             ends, reschedules or takes back a holder calls this in the same transaction. The key's advisory lock
--             orders it against claim_jobs, which demotes a job only while it holds the same lock, so no job is left
--             waiting behind nobody; the look at the table comes in a statement of its own, after the lock.
-- Parameters  keys: which · notify: wake idle workers
-- Returns     how many were promoted
-- Errors      none
-- Tables      advisory locks of the keys (ascending), then jobs, job_events (insert)
create or replace function leasehold.promote_waiting_jobs(keys text[], notify boolean default true)
returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_queues   text[];
    v_promoted integer;
begin
    perform pg_advisory_xact_lock(locks.number)
       from (select distinct leasehold.key_lock(k.key) as number from unnest(promote_waiting_jobs.keys) k(key) order by 1) locks;

    -- Asked one key at a time, in words that fit one index only: a plan made for an empty table must do for a full one.
    with recursive lane(key, queue, kind) as (
        select f.key, f.queue, f.kind
          from (select distinct u.key from unnest(promote_waiting_jobs.keys) u(key)) k
         cross join lateral (select j.key, j.queue, j.kind from leasehold.jobs j
                              where j.key = k.key and j.state in ('pending', 'waiting') order by j.queue, j.kind limit 1) f
        union all
        select n.key, n.queue, n.kind from lane l
         cross join lateral (select j.key, j.queue, j.kind from leasehold.jobs j
                              where j.key = l.key and (j.queue, j.kind) > (l.queue, l.kind) and j.state in ('pending', 'waiting')
                              order by j.queue, j.kind limit 1) n
    ), best as materialized (
        select w.place, w.id, w.has_waited
          from lane k
         cross join lateral (
               select j.ctid as place, j.id, j.xmin <> pg_current_xact_id()::xid as has_waited from leasehold.jobs j
                where j.key = k.key and j.queue = k.queue and j.kind = k.kind and j.state = 'waiting'
                order by j.priority desc, j.run_at, j.id limit 1 for update skip locked) w
         where (select h.id from leasehold.jobs h where h.key = k.key and h.incarnation is not null limit 1) is null
           and (select p.id from leasehold.jobs p
                 where p.key = k.key and p.queue = k.queue and p.kind = k.kind and p.state in ('pending', 'waiting') and p.state < 'waiting' limit 1) is null
    ), promoted as (
        update leasehold.jobs j set state = 'pending', pending_at = case when exists (select from leasehold.lane_marks) then leasehold.clock() end
         where j.ctid = any (array(select place from best))
        returning j.id, j.attempt, j.queue
    ), noted as (
        -- A job that came into line in this very transaction has not waited: what brought it there is told already.
        -- Where that was in a savepoint, both are told.
        insert into leasehold.job_events (job_id, at, event, attempt)
        select p.id, leasehold.clock(), 'promoted', p.attempt from promoted p where p.id in (select b.id from best b where b.has_waited)
    )
    select count(*), array_agg(distinct p.queue) into v_promoted, v_queues from promoted p;
    if promote_waiting_jobs.notify and v_queues is not null then
        perform leasehold.wake_idle_workers(v_queues);
    end if;
    return v_promoted;
end
$$;
