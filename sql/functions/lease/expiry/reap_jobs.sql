-- Purpose     Take back jobs whose lease has run out. They are pending again at once, or failed if their attempts are
--             used up or too many processes have died under them. blame_jobs says whose attempt counts; that of a job
--             with a single attempt always does. A job that would fail because its worker seems to have died is held
--             for one lease more, in case that worker was only stopped and comes back. The former owners are told,
--             idle workers are woken. Any number of reapers may run.
-- Parameters  batch: how many at the most · stale_after: take back also what has not been renewed for so long
--             present_for: how long the caller has had the database without a break, so that workers which could not reach
--             it either are not taken for dead; null: long enough · worker: only those of this incarnation; null: of all
-- Returns     each job taken back, with the attempt and worker that lost it, and its new state (pending, waiting in the line
--             of its key, failed)
-- Errors      none
-- Tables      jobs (rows locked, locked ones skipped; expiry is judged under the lock), as blame_jobs, job_events (insert), as finish_jobs
--             and close_chains, then keys as promote_waiting_jobs; first as take_reap_turn and look_behind_marks
create or replace function leasehold.reap_jobs(
    batch integer default 1000, stale_after interval default null, present_for interval default null,
    worker uuid default null
) returns table (job_id bigint, attempt integer, worker_id text, queue text, state text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off as $$
#variable_conflict use_column
declare
    v_now   timestamptz := leasehold.clock();
    v_ids   bigint[];
    v_taken record;
    v_keys  text[];
begin
    perform leasehold.take_reap_turn('1 second');
    if exists (select from leasehold.lane_marks) then
        perform leasehold.look_behind_marks();
    end if;
    v_ids := array(select j.id from leasehold.jobs j
                    where j.state in ('claimed', 'running') and (reap_jobs.worker is null or j.incarnation = reap_jobs.worker)
                      and (j.lease_expires_at <= v_now or coalesce(j.heartbeat_at, j.claimed_at) < v_now - reap_jobs.stale_after)
                    limit reap_jobs.batch for update skip locked);
    if v_ids = '{}' then
        return;
    end if;
    with judged as materialized (
        select j.id, j.attempt, j.worker_id, j.claimed_at, j.started_at, j.queue, j.key, b.is_charged, b.crashes, v.is_last,
               v.is_last and b.is_open and j.max_attempts > 1 as is_held_on, j.lease_expires_at - coalesce(j.heartbeat_at, j.claimed_at) as lease,
               case when b.crashes >= leasehold.most_crashes()
                    then jsonb_build_object('type', 'Quarantined', 'message', format(
                         '%s processes died while they ran this job, the last one on worker %s', b.crashes, j.worker_id))
                    else jsonb_build_object('type', 'LeaseExpired', 'message', case when j.lease_expires_at <= v_now
                         then format('the lease of attempt %s on worker %s ran out at %s', j.attempt, j.worker_id, j.lease_expires_at)
                         else format('the lease of attempt %s on worker %s was taken back before it ran out: nobody has renewed it since %s',
                                     j.attempt, j.worker_id, coalesce(j.heartbeat_at, j.claimed_at)) end
                         || case when v.is_last and j.max_attempts = 1 then ': the worker died or stood still in the middle of the job, which may not'
                                 || ' begin twice, for its max_attempts is 1. Retry it by hand, and give such jobs max_attempts = 2 if they may'
                                 when v.is_last then format('; its %s attempts are used up', j.max_attempts) else '' end) end as error
          from leasehold.jobs j join leasehold.blame_jobs(v_ids, reap_jobs.present_for) b on b.job_id = j.id
         cross join lateral (select coalesce(b.crashes, 0) >= leasehold.most_crashes()
                                    or b.is_charged and j.attempt - j.spared_attempts >= j.max_attempts as is_last) v
         where j.id = any (v_ids)
    ), held_on as (
        update leasehold.jobs j set crashes = e.crashes, lease_expires_at = v_now + greatest(e.lease, interval '1 second')
          from judged e where j.id = e.id and e.is_held_on and j.id = any (v_ids)
    ), expired as materialized (
        select e.* from judged e where not e.is_held_on
    ), noted as (
        insert into leasehold.job_events (job_id, at, event, attempt, claimed_at, started_at, worker_id, message, detail)
        select e.id, v_now, 'reaped', e.attempt, case when not e.is_last then e.claimed_at end,
               case when not e.is_last then e.started_at end, e.worker_id, e.error ->> 'message', e.error
          from expired e
    ), again as (
        update leasehold.jobs j
           set state = case when j.key is null then 'pending' else 'waiting' end, error = e.error, crashes = e.crashes,
               pending_at = case when exists (select from leasehold.lane_marks) then v_now end,
               spared_attempts = j.spared_attempts + case when e.is_charged then 0 else 1 end, claimed_at = null, started_at = null,
               heartbeat_at = null, lease_expires_at = null, incarnation = null, worker_id = null
          from expired e where j.id = e.id and not e.is_last and j.id = any (v_ids)
        returning j.id, j.state
    ), convicted as (
        update leasehold.jobs j set crashes = e.crashes
          from expired e where j.id = e.id and e.is_last and j.crashes is distinct from e.crashes and j.id = any (v_ids)
    )
    select array_agg(e.id) as ids, array_agg(e.attempt) as attempts, array_agg(e.worker_id) as worker_ids,
           array_agg(e.queue) as queues, array_agg(coalesce(a.state, 'failed')) as states, array_agg(e.key) filter (where e.key is not null) as keys,
           array_agg(e.id) filter (where e.is_last) as ended, array_agg(e.error) filter (where e.is_last) as errors
      into v_taken
      from expired e left join again a on a.id = e.id;
    if v_taken.ids is null then
        return;
    end if;
    if v_taken.ended is not null then
        select leasehold.close_chains(array_agg(coalesce(f.chain_id, f.id)), false) into v_keys
          from leasehold.finish_jobs(v_taken.ended, 'failed', v_taken.errors, null, null, null, v_now) f;
    end if;
    v_keys := v_taken.keys || v_keys;
    if v_keys <> '{}' then
        perform leasehold.promote_waiting_jobs(v_keys);
    end if;
    perform leasehold.send_notice(format('lost:%s:%s:taken_by_another_worker', l.id, l.attempt))
       from unnest(v_taken.ids, v_taken.attempts) with ordinality l(id, attempt, position) where l.position <= 200;
    perform leasehold.wake_idle_workers(v_taken.queues);
    return query select * from unnest(v_taken.ids, v_taken.attempts, v_taken.worker_ids, v_taken.queues, v_taken.states);
end
$$;
