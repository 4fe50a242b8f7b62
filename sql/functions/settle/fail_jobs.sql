-- Purpose     Settle attempts that failed. A job is scheduled for its next attempt after a back-off; if its attempts
--             are used up, or it is to be discarded, it is finished as failed. No other function decides this.
-- Parameters  incarnation, job_ids, attempts: the identities · errors: JSON objects with type, message, traceback, place
--             (file, line and function, for people), and crash: true where a process of its own died under the handler:
--             after most_crashes of those in a row the job is put in quarantine, whatever attempts are left (type Quarantined)
--             ran_for: seconds since the handler started · discard: no further attempt
--             retry_in: seconds, instead of the back-off · initial, multiplier, cap, step: the back-off of the kind (as retry_delay);
--             each an array as long as job_ids, elements null for the default
-- Returns     for each job what happened: scheduled, pending, waiting (in the line of its key), failed, or refused with
--             the reason (busy: another session holds its row, send it again); run_at of the next attempt; nothing for a job that this very
--             attempt has finished already
-- Errors      55P03 another session holds something else that one of them needs for half a second: send them apart
-- Tables      jobs (in id order), job_events (insert), as finish_jobs and close_chains, then keys as promote_waiting_jobs
create or replace function leasehold.fail_jobs(
    incarnation uuid, job_ids bigint[], attempts integer[], errors jsonb[], ran_for double precision[] default null,
    discard boolean[] default null, retry_in double precision[] default null, initial double precision[] default null,
    multiplier double precision[] default null, cap double precision[] default null, step double precision[] default null
) returns table (job_id bigint, outcome text, reason text, run_at timestamptz) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set lock_timeout = '500ms' set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off as $$
#variable_conflict use_column
declare
    v_now     timestamptz := leasehold.clock();
    v_ids     bigint[];
    v_states  text[];
    v_run_ats timestamptz[];
    v_keys    text[];
    v_queues  text[];
    v_freed   text[];
    v_ended   bigint[];
    v_errors  jsonb[];
    v_ran_for double precision[];
begin
    with verdict as materialized (
        select j.id, f.ran_for, c.crashes,
               case when c.crashes >= leasehold.most_crashes()
                    then f.error || jsonb_build_object('type', 'Quarantined', 'message', format(
                         '%s processes died while they ran this job; the last one: %s', c.crashes, f.error ->> 'message'))
                    else f.error end as error,
               coalesce(f.discard, false) or j.attempt - j.spared_attempts >= j.max_attempts
               or coalesce(c.crashes >= leasehold.most_crashes(), false) as is_last,
               v_now + make_interval(secs => least(greatest(0, coalesce(f.retry_in,
                   leasehold.retry_delay(j.attempt - j.spared_attempts, f.initial, f.multiplier, f.cap, f.step))), leasehold.longest_time())) as run_at
          from (select * from unnest(fail_jobs.job_ids, fail_jobs.attempts, fail_jobs.errors, fail_jobs.ran_for, fail_jobs.discard,
                                     fail_jobs.retry_in, fail_jobs.initial, fail_jobs.multiplier, fail_jobs.cap, fail_jobs.step)
                       f(id, attempt, error, ran_for, discard, retry_in, initial, multiplier, cap, step) order by f.id) f
          join leasehold.jobs j on j.id = f.id
         cross join lateral (select case when f.error -> 'crash' = 'true' then coalesce(j.crashes, 0) + 1 end as crashes) c
         where j.attempt = f.attempt and j.incarnation = fail_jobs.incarnation and j.id = any (fail_jobs.job_ids)
           for update of j skip locked
    ), noted as (
        insert into leasehold.job_events (job_id, at, event, attempt, claimed_at, started_at, worker_id, message, detail)
        select j.id, v_now, 'attempt_failed', j.attempt, j.claimed_at,
               coalesce(j.started_at, greatest(j.claimed_at, v_now - make_interval(secs => least(greatest(0, v.ran_for), leasehold.longest_time())))),
               j.worker_id, leasehold.describe_error(v.error), v.error
          from verdict v join leasehold.jobs j on j.id = v.id and j.id = any (fail_jobs.job_ids)
         where not v.is_last
    ), again as (
        update leasehold.jobs j
           set state = case when v.run_at > v_now then 'scheduled' when j.key is null then 'pending' else 'waiting' end,
               run_at = v.run_at, pending_at = null, error = v.error,
               crashes = v.crashes, claimed_at = null, started_at = null, heartbeat_at = null,
               lease_expires_at = null, incarnation = null, worker_id = null
          from verdict v where j.id = v.id and not v.is_last and j.id = any (fail_jobs.job_ids)
        returning j.id, j.state, j.run_at, j.key, j.queue
    ), convicted as (
        update leasehold.jobs j set crashes = v.crashes
          from verdict v where j.id = v.id and v.is_last and v.crashes is not null and j.id = any (fail_jobs.job_ids)
    )
    select array_agg(v.id), array_agg(coalesce(a.state, 'failed')), array_agg(a.run_at), array_agg(a.key) filter (where a.key is not null),
           array_agg(distinct a.queue) filter (where a.state = 'pending'), array_agg(distinct a.queue) filter (where a.state <> 'pending'),
           array_agg(v.id) filter (where v.is_last),
           array_agg(v.error) filter (where v.is_last), array_agg(v.ran_for) filter (where v.is_last)
      into v_ids, v_states, v_run_ats, v_keys, v_queues, v_freed, v_ended, v_errors, v_ran_for
      from verdict v left join again a on a.id = v.id;
    if v_ended is not null then
        select v_keys || array_agg(f.key) filter (where f.key is not null) || leasehold.close_chains(array_agg(coalesce(f.chain_id, f.id)), false) into v_keys
          from leasehold.finish_jobs(v_ended, 'failed', v_errors, null, null, v_ran_for, v_now) f;
    end if;
    if v_keys <> '{}' then
        perform leasehold.promote_waiting_jobs(v_keys);
    end if;
    if v_queues is not null then
        perform leasehold.wake_idle_workers(v_queues);
    end if;
    if v_freed is not null then
        perform leasehold.wake_limited_queues(v_freed);
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
