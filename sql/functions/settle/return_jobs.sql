-- Purpose     Put held jobs back without counting the attempt: at once (release: it never started) or later
--             (reschedule).
-- Parameters  incarnation, job_ids, attempts: the identities · delays: seconds from now, for each · event: released or
--             rescheduled · reasons: one for each, or null · run_ats: times instead of delays, for those that have one; or null
-- Returns     only the refused ones, with the reason; busy is one whose row another session holds, to be sent again; so is one that
--             was taken away and is blamed still because of that
-- Errors      55P03 another session holds something else that one of them needs for half a second: send them apart
-- Tables      jobs (in id order), job_events (insert), keys as promote_waiting_jobs, then as return_to_buckets, clear_suspects
create or replace function leasehold.return_jobs(
    incarnation uuid, job_ids bigint[], attempts integer[], delays double precision[], event text, reasons text[],
    run_ats timestamptz[] default null
) returns table (job_id bigint, reason text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set lock_timeout = '500ms' set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off as $$
#variable_conflict use_column
declare
    v_now    timestamptz := leasehold.clock();
    v_ids    bigint[];
    v_keys   text[];
    v_queues text[];
    v_past   record;
    v_blamed bigint[];
begin
    with chosen as materialized (
        select j.id, j.worker_id, j.claimed_at, j.started_at, r.reason,
               least(coalesce(r.run_at, v_now + make_interval(secs => least(greatest(0, r.delay), leasehold.longest_time()))),
                     v_now + make_interval(secs => leasehold.longest_time())) as run_at,
               coalesce(r.run_at > v_now, r.delay > 0, false) as is_later
          from (select * from unnest(return_jobs.job_ids, return_jobs.attempts, return_jobs.delays, return_jobs.reasons, return_jobs.run_ats)
                       r(id, attempt, delay, reason, run_at) order by r.id) r
          join leasehold.jobs j on j.id = r.id
         where j.attempt = r.attempt and j.incarnation = return_jobs.incarnation and j.id = any (return_jobs.job_ids)
           for update of j skip locked
    ), put_back as (
        update leasehold.jobs j
           set state = case when c.is_later then 'scheduled' when j.key is null then 'pending' else 'waiting' end,
               run_at = case when c.is_later then c.run_at else j.run_at end, pending_at = case when exists (select from leasehold.lane_marks) then v_now end,
               spared_attempts = j.spared_attempts + 1,
               claimed_at = null, started_at = null, heartbeat_at = null, lease_expires_at = null, incarnation = null, worker_id = null
          from chosen c where j.id = c.id and j.id = any (return_jobs.job_ids)
        returning j.id, j.attempt, j.key, j.queue, j.key_group, c.reason, c.worker_id, c.claimed_at, c.started_at
    ), noted as (
        insert into leasehold.job_events (job_id, at, event, attempt, claimed_at, started_at, worker_id, message)
        select p.id, v_now, return_jobs.event, p.attempt, p.claimed_at, p.started_at, p.worker_id, p.reason from put_back p
    )
    select array_agg(p.id) as ids, array_agg(p.key) filter (where p.key is not null) as keys, array_agg(distinct p.queue) as queues,
           array_agg(p.queue) filter (where p.started_at is null) as all_queues, array_agg(p.key_group) filter (where p.started_at is null) as key_groups,
           array_agg(p.claimed_at) filter (where p.started_at is null) as claimed_ats
      into v_past from put_back p;
    v_ids := v_past.ids;
    v_keys := v_past.keys;
    v_queues := v_past.queues;
    if v_keys is not null then
        perform leasehold.promote_waiting_jobs(v_keys);
    end if;
    if v_queues is not null then
        perform leasehold.wake_idle_workers(v_queues);
    end if;
    if v_past.all_queues is not null and return_jobs.event = 'released' then
        perform leasehold.return_to_buckets(v_past.all_queues, v_past.key_groups, v_past.claimed_ats);
    end if;
    if cardinality(v_ids) is distinct from cardinality(return_jobs.job_ids) then
        if return_jobs.event = 'released' then
            perform leasehold.clear_suspects(return_jobs.incarnation, return_jobs.job_ids, return_jobs.attempts);
            v_blamed := array(select l.job_id from leasehold.workers w cross join unnest(w.losses || w.excused) l
                               where w.incarnation = return_jobs.incarnation
                                 and (l.job_id, l.attempt) in (select c.id, c.attempt from unnest(return_jobs.job_ids, return_jobs.attempts) c(id, attempt))
                                 and exists (select from leasehold.jobs j where j.id = l.job_id and j.crashes is not null));
        end if;
        return query
        select r.job_id, case when r.job_id = any (v_blamed) then 'busy' else r.reason end
          from (select array_agg(c.id) as ids, array_agg(c.attempt) as attempts
                  from unnest(return_jobs.job_ids, return_jobs.attempts) c(id, attempt)
                 where v_ids is null or c.id <> all (v_ids)) refused
         cross join lateral leasehold.name_refusals(return_jobs.incarnation, refused.ids, refused.attempts) r;
    end if;
end
$$;
