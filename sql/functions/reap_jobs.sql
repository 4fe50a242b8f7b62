-- Purpose     Take back jobs whose lease has run out: pending again at once (the attempt counts), or failed when their
--             attempts are used up. The former owners are told, idle workers are woken. Any number of reapers may run.
-- Parameters  batch: how many at the most · stale_after: take back also what has not been renewed for so long
-- Returns     each job taken back, with the attempt and worker that lost it, and its new state (pending, waiting in the line
--             of its key, failed)
-- Errors      none
-- Tables      jobs (rows locked, locked ones skipped; expiry is judged under the lock), finished_jobs, job_events,
--             keys as promote_waiting_jobs
-- Callers     the reaper, recover_stale_jobs
create or replace function leasehold.reap_jobs(batch integer default 1000, stale_after interval default null)
returns table (job_id bigint, attempt integer, worker_id text, queue text, state text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off as $$
#variable_conflict use_column
declare
    v_now   timestamptz := leasehold.clock();
    v_ids   bigint[];
    v_taken record;
begin
    v_ids := array(select j.id from leasehold.jobs j
                    where j.state in ('claimed', 'running')
                      and (j.lease_expires_at <= v_now or coalesce(j.heartbeat_at, j.claimed_at) < v_now - reap_jobs.stale_after)
                    limit reap_jobs.batch for update skip locked);
    if v_ids = '{}' then
        return;
    end if;
    with expired as materialized (
        select j.id, j.attempt, j.worker_id, j.claimed_at, j.started_at,
               j.attempt - j.spared_attempts >= j.max_attempts as is_last,
               jsonb_build_object('type', 'LeaseExpired', 'message', format(
                   'the lease of attempt %s on worker %s ran out at %s', j.attempt, j.worker_id, j.lease_expires_at)) as error
          from leasehold.jobs j where j.id = any (v_ids)
    ), noted as (
        insert into leasehold.job_events (job_id, at, event, attempt, claimed_at, started_at, worker_id, message, detail)
        select e.id, v_now, 'reaped', e.attempt, case when not e.is_last then e.claimed_at end,
               case when not e.is_last then e.started_at end, e.worker_id, e.error ->> 'message', e.error
          from expired e
    ), again as (
        update leasehold.jobs j
           set state = case when j.key is null then 'pending' else 'waiting' end, error = e.error, claimed_at = null, started_at = null,
               heartbeat_at = null, lease_expires_at = null, incarnation = null, worker_id = null
          from expired e where j.id = e.id and not e.is_last and j.id = any (v_ids)
        returning j.id, e.attempt, e.worker_id, j.queue, j.state, j.key
    ), ended as (
        delete from leasehold.jobs j using expired e where j.id = e.id and e.is_last and j.id = any (v_ids)
        returning j.*, e.error as last_error
    ), moved as (
        insert into leasehold.finished_jobs (id, created_at, run_at, claimed_at, started_at, heartbeat_at, finished_at, incarnation,
               priority, attempt, spared_attempts, max_attempts, state, kind, queue, key, worker_id, args, metadata, error)
        select id, created_at, run_at, claimed_at, started_at, heartbeat_at, v_now, incarnation,
               priority, attempt, spared_attempts, max_attempts, 'failed', kind, queue, key, worker_id, args, metadata, last_error
          from ended
        returning id, attempt, worker_id, queue, state, key
    )
    select array_agg(t.id) as ids, array_agg(t.attempt) as attempts, array_agg(t.worker_id) as worker_ids,
           array_agg(t.queue) as queues, array_agg(t.state) as states, array_agg(t.key) filter (where t.key is not null) as keys
      into v_taken
      from (select * from again union all select * from moved) t(id, attempt, worker_id, queue, state, key);
    if v_taken.keys is not null then
        perform leasehold.promote_waiting_jobs(v_taken.keys);
    end if;
    perform pg_notify('leasehold', format('lost:%s:%s:taken_by_another_worker', l.id, l.attempt))
       from unnest(v_taken.ids, v_taken.attempts) with ordinality l(id, attempt, position) where l.position <= 200;
    perform leasehold.wake_idle_workers(v_taken.queues);
    return query select * from unnest(v_taken.ids, v_taken.attempts, v_taken.worker_ids, v_taken.queues, v_taken.states);
end
$$;
