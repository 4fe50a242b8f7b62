-- Purpose     Wake idle, listening workers for what is pending in these queues: as many as there are jobs that they could
--             take, and one more, should one of them have died. The notice names them (name_idle_workers); the others
--             sleep on. None is woken for a paused queue, for one whose max_running is reached, or for kinds without a
--             handler. A NOTIFY costs every committer a lock and every listener of the database a look. So none is sent
--             for busy workers, which look again by themselves. With 32 listeners or more, half a millisecond for
--             each of them passes between two wake-ups, and none is sent while enough workers went idle so lately that they
--             still look every few milliseconds: those that were woken or went idle last find what came meanwhile.
--             In a SERIALIZABLE transaction only workers is read, and all workers of the queue are woken: what such a
--             transaction has read of jobs, another one that enqueues writes, and Postgres aborts one of the two. A table
--             that no SERIALIZABLE transaction writes aborts nobody.
-- Parameters  queues: names
-- Returns     how many wake-ups were sent
-- Errors      none
-- Tables      workers (read), last_wake_up; jobs, limits, queues (read) and as name_idle_workers where not SERIALIZABLE
create or replace function leasehold.wake_idle_workers(queues text[]) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    c_most_queues constant integer := 20;
    c_fleet       constant integer := 32;
    v_now       timestamptz := leasehold.clock();
    v_listeners bigint;
    v_idle      bigint;
    v_awake     timestamptz;
    v_moment    bigint;
    v_queue     text;
    v_notice    text;
    v_sent      integer := 0;
    v_serializable boolean := current_setting('transaction_isolation') = 'serializable';
begin
    select count(*), count(*) filter (where w.idle and w.state = 'ready' and (w.queues = '{}' or w.queues && wake_idle_workers.queues)) into v_listeners, v_idle
      from leasehold.workers w where w.stopped_at is null and w.listening and w.heartbeat_at > v_now - interval '5 minutes';
    if v_idle = 0 then
        return 0;
    elsif not v_serializable and v_idle <= 2 and v_listeners < c_fleet and cardinality(wake_idle_workers.queues) = 1 and not exists (select from leasehold.lane_marks) then
        -- The usual case in one statement: what it cannot tell at a glance is left to name_idle_workers.
        perform leasehold.send_notice('wake:' || q.queue)
           from unnest(wake_idle_workers.queues) q(queue)
          cross join lateral (select j.kind from leasehold.jobs j where j.state = 'pending' and j.queue = q.queue order by j.kind limit 1) f
          where not exists (select from leasehold.limits l where l.queue = q.queue)
            and not exists (select from leasehold.queues p where p.queue = q.queue and p.paused_at is not null)
            and exists (select from leasehold.workers w
                         where w.stopped_at is null and w.idle and w.listening and w.state = 'ready' and w.heartbeat_at > v_now - interval '5 minutes'
                           and w.backoff is null and (w.queues = '{}' or q.queue = any (w.queues)) and (w.kinds = '{}' or f.kind = any (w.kinds)));
        if found then
            return 1;
        end if;
    end if;
    if cardinality(wake_idle_workers.queues) > c_most_queues then
        perform leasehold.send_notice('wake');
        return 1;
    end if;
    -- A NOTIFY costs some 40 µs of CPU for each listener. With this time between two of them they stay below a tenth of a core.
    if v_listeners >= c_fleet then
        v_awake := v_now - v_listeners * interval '0.5 ms';
        v_moment := floor(1000 * extract(epoch from v_now));
        if v_moment - (select l.last_value from leasehold.last_wake_up l) between 0 and v_listeners / 2 then
            return 0;
        end if;
    end if;
    for v_queue in select distinct u.queue from unnest(wake_idle_workers.queues) u(queue) order by 1 loop
        v_notice := case when v_serializable then 'wake:' || v_queue else leasehold.name_idle_workers(v_queue, v_now, v_awake) end;
        if v_notice is not null then
            perform leasehold.send_notice(v_notice);
            v_sent := v_sent + 1;
        end if;
    end loop;
    if v_sent > 0 and v_moment is not null then
        perform setval('leasehold.last_wake_up', v_moment);
    end if;
    return v_sent;
end
$$;
