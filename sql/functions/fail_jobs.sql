-- Purpose     Settle attempts that failed: each job is scheduled for its next attempt after a back-off, or, when its
--             attempts are used up or it is to be discarded, finished as failed. This is the one place that decides so.
-- Parameters  incarnation, job_ids, attempts: the identities · errors: JSON objects with type, message, traceback
--             ran_for: seconds since the handler started · discard: no further attempt
--             retry_in: seconds, instead of the back-off · initial, multiplier, cap: the back-off of the kind;
--             each an array as long as job_ids, elements null for the default
-- Returns     for each job what happened: scheduled, pending, waiting (in the line of its key), failed, or refused with
--             the reason; run_at of the next attempt; nothing for a job that this very attempt has finished already
-- Errors      none
-- Tables      jobs (in id order), finished_jobs, job_events (insert), keys as promote_waiting_jobs
-- Callers     the settler, other languages
create or replace function leasehold.fail_jobs(
    incarnation uuid, job_ids bigint[], attempts integer[], errors jsonb[], ran_for double precision[] default null,
    discard boolean[] default null, retry_in double precision[] default null, initial double precision[] default null,
    multiplier double precision[] default null, cap double precision[] default null
) returns table (job_id bigint, outcome text, reason text, run_at timestamptz) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off as $$
#variable_conflict use_column
declare
    v_now     timestamptz := leasehold.clock();
    v_ids     bigint[];
    v_states  text[];
    v_run_ats timestamptz[];
    v_keys    text[];
    v_queues  text[];
begin
    with verdict as materialized (
        select j.id, f.error, f.ran_for,
               coalesce(f.discard, false) or j.attempt - j.spared_attempts >= j.max_attempts as is_last,
               v_now + make_interval(secs => least(greatest(0, coalesce(f.retry_in,
                   leasehold.retry_delay(j.attempt - j.spared_attempts, f.initial, f.multiplier, f.cap))), 3155760000)) as run_at
          from (select * from unnest(fail_jobs.job_ids, fail_jobs.attempts, fail_jobs.errors, fail_jobs.ran_for, fail_jobs.discard,
                                     fail_jobs.retry_in, fail_jobs.initial, fail_jobs.multiplier, fail_jobs.cap)
                       f(id, attempt, error, ran_for, discard, retry_in, initial, multiplier, cap) order by f.id) f
          join leasehold.jobs j on j.id = f.id
         where j.attempt = f.attempt and j.incarnation = fail_jobs.incarnation and j.id = any (fail_jobs.job_ids)
           for update of j
    ), noted as (
        insert into leasehold.job_events (job_id, at, event, attempt, claimed_at, started_at, worker_id, message, detail)
        select j.id, v_now, 'attempt_failed', j.attempt, j.claimed_at,
               coalesce(j.started_at, greatest(j.claimed_at, v_now - make_interval(secs => least(greatest(0, v.ran_for), 3155760000)))), j.worker_id, v.error ->> 'message', v.error
          from verdict v join leasehold.jobs j on j.id = v.id and j.id = any (fail_jobs.job_ids)
         where not v.is_last
    ), again as (
        update leasehold.jobs j
           set state = case when v.run_at > v_now then 'scheduled' when j.key is null then 'pending' else 'waiting' end,
               run_at = v.run_at, error = v.error, claimed_at = null, started_at = null, heartbeat_at = null,
               lease_expires_at = null, incarnation = null, worker_id = null
          from verdict v where j.id = v.id and not v.is_last and j.id = any (fail_jobs.job_ids)
        returning j.id, j.state, j.run_at, j.key, j.queue
    ), ended as (
        delete from leasehold.jobs j using verdict v where j.id = v.id and v.is_last and j.id = any (fail_jobs.job_ids)
        returning j.*, v.error as last_error, v.ran_for
    ), moved as (
        insert into leasehold.finished_jobs (id, created_at, run_at, claimed_at, started_at, heartbeat_at, finished_at, incarnation,
               priority, attempt, spared_attempts, max_attempts, state, kind, queue, key, worker_id, args, metadata, error)
        select id, created_at, run_at, claimed_at,
               coalesce(started_at, greatest(claimed_at, v_now - make_interval(secs => least(greatest(0, ran_for), 3155760000)))), heartbeat_at, v_now, incarnation,
               priority, attempt, spared_attempts, max_attempts, 'failed', kind, queue, key, worker_id, args, metadata, last_error
          from ended
        returning id, state, null::timestamptz, key, queue
    )
    select array_agg(o.id), array_agg(o.state), array_agg(o.run_at), array_agg(o.key) filter (where o.key is not null),
           array_agg(distinct o.queue) filter (where o.state = 'pending')
      into v_ids, v_states, v_run_ats, v_keys, v_queues
      from (select * from again union all select * from moved) o(id, state, run_at, key, queue);
    if v_keys is not null then
        perform leasehold.promote_waiting_jobs(v_keys);
    end if;
    if v_queues is not null then
        perform leasehold.wake_idle_workers(v_queues);
    end if;
    return query select o.id, o.state, null::text, o.run_at from unnest(v_ids, v_states, v_run_ats) o(id, state, run_at);
    if cardinality(v_ids) is distinct from cardinality(fail_jobs.job_ids) then
        return query
        select r.job_id, 'refused'::text, r.reason, null::timestamptz
          from (select array_agg(c.id) as ids, array_agg(c.attempt) as attempts
                  from unnest(fail_jobs.job_ids, fail_jobs.attempts) c(id, attempt)
                 where v_ids is null or c.id <> all (v_ids)) refused
         cross join lateral leasehold.name_refusals(fail_jobs.incarnation, refused.ids, refused.attempts) r;
    end if;
end
$$;
