-- Purpose     Explain a job that nobody holds, for explain_job: its time, its queue, the workers, its key, its
--             limits, and the jobs before it.
-- Parameters  job: the job
-- Returns     as explain_job
-- Errors      none
-- Tables      queues, workers, pg_settings (read), as explain_key, explain_limits and explain_pending_job
create or replace function leasehold.explain_waiting_job(job leasehold.all_jobs)
returns table (reason text, explanation text, until timestamptz, facts jsonb) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_now      timestamptz := leasehold.clock();
    v_queue    leasehold.queues;
    v_servers  record;
    v_backoff  record;
    v_stopped  boolean := false;
    v_limited  boolean;
begin
    -- What this session alone has set, workers have not.
    if pg_is_in_recovery() or current_setting('default_transaction_read_only')::boolean
       and exists (select from pg_settings s where s.name = 'default_transaction_read_only' and s.source not in ('session', 'client', 'user', 'database user')) then
        v_stopped := true;
        return query
        select 'read_only', 'the database can only be read: ' || case when pg_is_in_recovery() then 'it is a standby' else 'default_transaction_read_only is on' end,
               null::timestamptz, jsonb_build_object('is_standby', pg_is_in_recovery());
    end if;
    if job.state = 'scheduled' then
        return query
        select 'scheduled',
               case when job.run_at <= v_now then format('it came due at %s; the next claim or the scheduler makes it claimable', date_trunc('second', job.run_at))
                    else format('its time is %s, in %s s', date_trunc('second', job.run_at), ceil(extract(epoch from job.run_at - v_now))) end
               || coalesce('; it failed before (' || leasehold.describe_error(job.error) || ')', ''),
               job.run_at, jsonb_build_object('run_at', job.run_at, 'attempt', job.attempt,
                                              'error', case jsonb_typeof(job.error) when 'object' then job.error - 'traceback' else job.error end);
    end if;
    select * into v_queue from leasehold.queues q where q.queue = job.queue and q.paused_at is not null;
    if found then
        v_stopped := true;
        return query
        select 'paused', format('queue %s is paused since %s', job.queue, date_trunc('second', v_queue.paused_at)) || coalesce(': ' || v_queue.reason, ''),
               null::timestamptz, jsonb_build_object('queue', job.queue, 'paused_at', v_queue.paused_at, 'reason', v_queue.reason);
    end if;
    select count(*) filter (where s.state <> 'draining') as alive, count(*) filter (where s.state <> 'draining' and s.queue) as of_queue,
           count(*) filter (where s.state <> 'draining' and s.kind) as of_kind, count(*) filter (where s.queue and s.kind and s.state = 'ready') as serving,
           array_agg(s.incarnation) filter (where s.queue and s.kind and s.state = 'ready') as incarnations,
           count(*) filter (where s.queue and s.kind and s.state = 'paused') as paused,
           count(*) filter (where s.queue and s.kind and s.state = 'draining') as draining, count(*) filter (where s.state = 'draining') as leaving
      into v_servers
      from (select w.incarnation, w.state,
                   w.queues = '{}' or job.queue = any (w.queues) as queue, w.kinds = '{}' or job.kind = any (w.kinds) as kind
              from leasehold.workers w where w.state in ('ready', 'paused', 'draining') and leasehold.is_alive(w, v_now)) s;
    if v_servers.serving = 0 and v_servers.paused > 0 then
        v_stopped := true;
        return query
        select 'paused_workers', format('the %s live worker(s) that serve it are paused', v_servers.paused), null::timestamptz,
               jsonb_build_object('live_workers', v_servers.alive, 'paused_workers', v_servers.paused);
    elsif v_servers.serving = 0 then
        v_stopped := true;
        return query
        select 'unserved',
               case when v_servers.draining > 0 then format('the %s worker(s) that serve it are draining and take no more jobs', v_servers.draining)
                    when v_servers.alive = 0 and v_servers.leaving > 0
                    then format('no live worker serves it: all %s are draining and take no more jobs', v_servers.leaving)
                    when v_servers.alive = 0 then 'no worker is alive'
                    when v_servers.of_queue = 0 then format('no live worker serves queue %s (%s alive)', job.queue, v_servers.alive)
                    else format('no live worker that serves queue %s has a handler for kind %s (%s alive: %s with the queue, %s with the kind)', job.queue, job.kind,
                                v_servers.alive, v_servers.of_queue, v_servers.of_kind) end,
               null::timestamptz,
               jsonb_build_object('live_workers', v_servers.alive, 'serving_queue', v_servers.of_queue, 'serving_kind', v_servers.of_kind,
                                  'draining_workers', v_servers.draining);
    end if;
    select count(*) as workers, count(w.backoff) as held_back, min(w.backoff_until) as until, string_agg(w.worker_id || ': ' || w.backoff, '; ' order by w.worker_id) as why
      into v_backoff from leasehold.workers w where w.incarnation = any (v_servers.incarnations);
    if v_backoff.held_back > 0 and v_backoff.held_back = v_backoff.workers then
        v_stopped := true;
        return query
        select 'backing_off', format('the %s worker(s) that serve it claim nothing for now: %s', v_backoff.workers, left(v_backoff.why, 500)), v_backoff.until,
               jsonb_build_object('workers', v_backoff.workers, 'why', v_backoff.why);
    end if;
    if job.key is not null then
        return query select * from leasehold.explain_key(job);
        v_stopped := found or v_stopped;
    end if;
    return query select * from leasehold.explain_limits(job);
    v_limited := found;
    if job.state = 'pending' and v_servers.serving > 0 then
        return query select * from leasehold.explain_pending_job(job, v_servers.incarnations, v_stopped, v_limited);
    end if;
    if job.crashes > 0 then
        return query
        select 'suspect', format('%s process(es) died while they had it; a worker takes one such job at a time, and at %s it is put in quarantine',
                                 job.crashes, leasehold.most_crashes()), null::timestamptz,
               jsonb_build_object('crashes', job.crashes, 'most_crashes', leasehold.most_crashes());
    end if;
end
$$;
