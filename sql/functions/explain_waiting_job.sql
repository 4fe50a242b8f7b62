-- Purpose     The part of explain_job for a job that nobody holds: its time, its key, its queue, its limits, the workers,
--             and the jobs before it.
-- Parameters  job: the job
-- Returns     as explain_job
-- Errors      none
-- Tables      jobs, queues, limits, workers, finished_jobs (read)
-- Callers     explain_job
create or replace function leasehold.explain_waiting_job(job leasehold.all_jobs)
returns table (reason text, explanation text, until timestamptz, facts jsonb) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    c_most  constant integer := 10000;
    v_now   timestamptz := leasehold.clock();
    v_other record;
    v_ahead integer;
    v_rate  double precision;
    v_stop  boolean := false;
begin
    if job.deadline is not null then
        return query select 'deadline', format('unless it ends before %s, it fails', job.deadline), job.deadline, jsonb_build_object('deadline', job.deadline);
    end if;
    if job.state = 'scheduled' then
        return query
        select 'scheduled',
               case when job.run_at <= v_now then format('it came due at %s; the next claim or the scheduler makes it claimable', job.run_at)
                    else format('its time is %s, in %s s', job.run_at, round(extract(epoch from job.run_at - v_now)))
                         || case when job.error is not null then format('; attempt %s failed (%s: %s)', job.attempt, job.error ->> 'type', job.error ->> 'message') else '' end end,
               job.run_at, jsonb_build_object('run_at', job.run_at, 'attempt', job.attempt, 'error', job.error - 'traceback');
    end if;
    select h.id, h.kind, h.attempt, h.worker_id, h.lease_expires_at into v_other
      from leasehold.jobs h where h.key = job.key and h.incarnation is not null;
    if found then
        return query
        select 'key_held', format('key %L is held by job %s (%s), attempt %s on worker %s, lease until %s', job.key, v_other.id, v_other.kind,
                                  v_other.attempt, v_other.worker_id, v_other.lease_expires_at), null::timestamptz,
               jsonb_build_object('key', job.key, 'job_id', v_other.id, 'kind', v_other.kind, 'attempt', v_other.attempt, 'worker_id', v_other.worker_id,
                                  'lease_expires_at', v_other.lease_expires_at);
    end if;
    if job.state = 'waiting' then
        select count(*) as jobs, min(o.id) as first into v_other
          from (select o.id from leasehold.jobs o
                 where o.key = job.key and o.queue = job.queue and o.kind = job.kind and o.state in ('pending', 'waiting') and o.id <> job.id
                   and (o.state = 'pending' or (-o.priority, o.run_at, o.id) < (-job.priority, job.run_at, job.id)) limit c_most) o;
        if v_other.jobs > 0 then
            return query
            select 'key_line', format('%s jobs of key %L are before it in its queue and kind, job %s among them', v_other.jobs, job.key, v_other.first),
                   null::timestamptz, jsonb_build_object('key', job.key, 'jobs', v_other.jobs, 'job_id', v_other.first);
        end if;
    end if;
    select q.paused_at, q.reason into v_other from leasehold.queues q where q.queue = job.queue and q.paused_at is not null;
    if found then
        v_stop := true;
        return query
        select 'paused', format('queue %L is paused since %s', job.queue, v_other.paused_at) || coalesce(': ' || v_other.reason, ''), null::timestamptz,
               jsonb_build_object('queue', job.queue, 'paused_at', v_other.paused_at, 'reason', v_other.reason);
    end if;
    if job.crashes > 0 then
        return query
        select 'suspect', format('%s processes have died while they ran it; a worker takes one such job at a time, and after %s it is put in quarantine',
                                 job.crashes, leasehold.most_crashes()), null::timestamptz,
               jsonb_build_object('crashes', job.crashes, 'most_crashes', leasehold.most_crashes());
    end if;
    select count(*) filter (where s.queues and s.kinds) as serving, count(*) filter (where s.queues and s.kinds and s.idle) as idle,
           coalesce(sum(s.slots) filter (where s.queues and s.kinds), 0) as slots, coalesce(sum(s.active_jobs) filter (where s.queues and s.kinds), 0) as active,
           count(*) filter (where s.queues) as of_queue, count(*) filter (where s.kinds) as of_kind, count(*) as alive,
           array_agg(s.worker_id order by s.worker_id) filter (where s.queues and s.kinds) as workers
      into v_other
      from (select w.worker_id, w.idle, w.slots, w.active_jobs, w.queues = '{}' or job.queue = any (w.queues) as queues,
                   w.kinds = '{}' or job.kind = any (w.kinds) as kinds
              from leasehold.workers w
             where w.state = 'ready' and w.heartbeat_at > v_now - interval '3 minutes') s;
    if v_other.serving = 0 then
        v_stop := true;
        return query
        select 'unserved',
               case when v_other.alive = 0 then 'no worker is alive'
                    when v_other.of_queue = 0 then format('none of the %s live workers serves queue %L', v_other.alive, job.queue)
                    else format('of the %s live workers %s serve queue %L, but none of those has a handler for kind %L%s', v_other.alive, v_other.of_queue,
                                job.queue, job.kind, case when v_other.of_kind > 0 then format(' (%s others have)', v_other.of_kind) else '' end) end,
               null::timestamptz,
               jsonb_build_object('live_workers', v_other.alive, 'serving_queue', v_other.of_queue, 'serving_kind', v_other.of_kind);
    end if;
    if job.state <> 'pending' then
        return;
    end if;
    -- In two parts, each a range of the claim index.
    v_ahead := (select count(*)
                  from ((select 1 from leasehold.jobs o
                          where o.state = 'pending' and o.queue = job.queue and o.kind = job.kind and o.priority > job.priority limit c_most)
                        union all
                        (select 1 from leasehold.jobs o
                          where o.state = 'pending' and o.queue = job.queue and o.kind = job.kind and o.priority = job.priority
                            and (o.run_at, o.id) < (job.run_at, job.id) limit c_most)
                        limit c_most) found);
    v_rate := leasehold.measure_rate(job.queue, job.kind);
    if v_ahead > 0 then
        return query
        select 'behind', format('%s jobs of its queue and kind are before it', case when v_ahead = c_most then 'at least ' else '' end || v_ahead), null::timestamptz,
               jsonb_build_object('jobs', v_ahead, 'per_second', v_rate, 'live_workers', v_other.serving, 'slots', v_other.slots, 'active_jobs', v_other.active);
    elsif not v_stop and v_other.idle > 0 then
        return query
        select 'idle_worker', format('nothing is in its way: %s idle workers serve it and will take it with their next poll', v_other.idle), v_now,
               jsonb_build_object('workers', v_other.workers[1:10]);
    end if;
    if not v_stop and v_rate is not null then
        return query
        select 'expected_start', format('at the present rate of %s jobs a second it starts in about %s s', round(v_rate::numeric, 2), round((v_ahead / v_rate)::numeric, 1)),
               v_now + make_interval(secs => v_ahead / v_rate), jsonb_build_object('per_second', v_rate, 'ahead', v_ahead);
    end if;
end
$$;
