-- Purpose     Explain what the pending jobs of a queue wait for: every reason with its facts, the weightiest first. It counts no more
--             than 1000 jobs of a kind.
-- Parameters  queue
-- Returns     reason: paused; unserved, paused_workers (a row for each kind, 20 at most, those first that wait longest); backing_off,
--             limited (a row for each limit that lets nothing start now, 20 at most), busy; none where nothing holds it up
--             explanation: a sentence for people · until: when this is expected to end, null where nobody knows
--             facts: the same for programs
-- Errors      none
-- Tables      queues, workers, limits, rate_buckets (read), jobs (read: as list_unclaimed_kinds, and held jobs)
create or replace function leasehold.explain_queue(queue text)
returns table (reason text, explanation text, until timestamptz, facts jsonb) language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_now    timestamptz := leasehold.clock();
    v_paused leasehold.queues;
    v_fleet  record;
begin
    select * into v_paused from leasehold.queues q where q.queue = explain_queue.queue and q.paused_at is not null;
    if found then
        return query
        select 'paused', format('it is paused since %s', date_trunc('second', v_paused.paused_at)) || coalesce(': ' || v_paused.reason, ''), null::timestamptz,
               jsonb_build_object('paused_at', v_paused.paused_at, 'reason', v_paused.reason);
    end if;
    if not exists (select from leasehold.jobs j where j.state = 'pending' and j.queue = explain_queue.queue) then
        return;
    end if;
    return query
    select u.reason,
           case when u.reason = 'unserved' then format('no live worker serves kind %s', u.kind) else format('all live workers that serve kind %s are paused', u.kind) end
           || format('; %s pending', case when u.jobs >= 1000 then '1000 or more' else u.jobs::text end),
           null::timestamptz, jsonb_build_object('kind', u.kind, 'jobs', u.jobs, 'waits_for', u.waits_for)
      from leasehold.list_unclaimed_kinds(1000) u
     where u.queue = explain_queue.queue and u.reason in ('unserved', 'paused_workers')
     order by u.reason desc, u.waits_for desc limit 20;
    select count(*) as workers, count(w.backoff) as held_back, min(w.backoff_until) as until, sum(w.slots) as slots,
           string_agg(w.worker_id || ': ' || w.backoff, '; ' order by w.worker_id) as why,
           coalesce(sum((select count(*) from leasehold.jobs j where j.incarnation = w.incarnation and j.state in ('claimed', 'running'))), 0) as held,
           coalesce(sum(least(w.slots, w.stray_handlers)), 0) as strays
      into v_fleet
      from leasehold.workers w
     where w.state = 'ready' and leasehold.is_alive(w, v_now) and (w.queues = '{}' or explain_queue.queue = any (w.queues));
    if v_fleet.held_back > 0 and v_fleet.held_back = v_fleet.workers then
        return query
        select 'backing_off', format('the %s worker(s) that serve it claim nothing for now: %s', v_fleet.workers, left(v_fleet.why, 500)), v_fleet.until,
               jsonb_build_object('workers', v_fleet.workers, 'why', v_fleet.why);
    end if;
    return query
    select 'limited',
           case l.key_group when '' then 'it' when '*' then 'a key group of it' else format('key group %s of it', l.key_group) end
           || case when l.running >= l.max_running then format(' may have %s running at once, and %s are held', l.max_running, l.running) else '' end
           || case when l.running >= l.max_running and l.tokens < 0.999999 then ', and' else '' end
           || case when l.tokens < 0.999999
                   then format(' may start %s (%s at once), and its next start is in %s s',
                               case when l.rate < 1 then format('one every %s s', trim_scale(round((1 / l.rate)::numeric, 1))) else l.rate || ' a second' end,
                               l.burst, round(l.next_token_in::numeric, 1)) else '' end,
           case when l.tokens < 0.999999 and l.running < coalesce(l.max_running, 2147483647) then v_now + make_interval(secs => l.next_token_in) end,
           jsonb_build_object('key_group', l.key_group, 'max_running', l.max_running, 'running', l.running, 'rate', l.rate, 'burst', l.burst,
                              'tokens', l.tokens, 'next_token_in', l.next_token_in)
      from leasehold.list_limits(explain_queue.queue) l
     where l.running >= l.max_running or l.tokens < 0.999999
     order by l.key_group limit 20;
    if v_fleet.workers > 0 and v_fleet.held + v_fleet.strays >= v_fleet.slots then
        return query
        select 'busy', format('all %s slot(s) of the %s worker(s) that serve it are taken', v_fleet.slots, v_fleet.workers)
                       || case when v_fleet.strays = 0 then ''
                               else format(', %s of them by handlers that still run although their jobs are gone (see leasehold workers stacks)', v_fleet.strays) end,
               null::timestamptz,
               jsonb_build_object('workers', v_fleet.workers, 'slots', v_fleet.slots, 'held', v_fleet.held, 'stray_handlers', v_fleet.strays);
    end if;
end
$$;
