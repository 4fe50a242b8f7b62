-- Purpose     Report that a worker is alive and how it fares, in one narrow heap-only update, and return the commands
--             for it. Crashes that were counted because it had been silent are taken back (excuse_jobs).
-- Parameters  incarnation · active_jobs: how many it runs · state: ready, paused or draining · listening
--             slots: null leaves them as they are · memory, cpu: shares of its limits in use, 0 to 1
--             backoff: why it claims nothing for now; null: it does · backoff_for: seconds until it looks again, at most a day
--             lost_wake_ups: so far in its life; null leaves them as they are · rss: bytes of memory that its process holds
--             cpu_user, cpu_system: seconds of CPU that its process has used · heartbeat_seconds: until the next one; null: as before
--             stray_handlers: how many still run although the worker has lost their jobs; null: as before
-- Returns     is_known: whether the worker is; if not, it registers again · commands: JSON array of {id, command, args} that are
--             not acknowledged yet, oldest first, again and again until they are; null: none
--             is_to_listen, idle_alike: as find_place, which looks at all workers: beside more than 64 that live one that does not listen and is
--             not new learns of its place by chance, so that all together ask no more often than 64 would; else both null
-- Errors      LH001 as refuse_heartbeat
-- Tables      workers, worker_commands, pg_class (read), as excuse_jobs and find_place
create or replace function leasehold.heartbeat_worker(
    incarnation uuid, active_jobs integer, state text, listening boolean, slots integer default null, memory double precision default null,
    cpu double precision default null, backoff text default null, backoff_for double precision default null,
    lost_wake_ups bigint default null, rss bigint default null, cpu_user double precision default null, cpu_system double precision default null,
    heartbeat_seconds double precision default null, stray_handlers integer default null
) returns table (is_known boolean, commands jsonb, is_to_listen boolean, idle_alike bigint) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_now        timestamptz := leasehold.clock();
    v_has_losses boolean;
    v_is_new     boolean;
    v_is_told    boolean;
    v_asks       boolean;
begin
    if (heartbeat_worker.active_jobs >= 0 and heartbeat_worker.state in ('ready', 'paused', 'draining') and heartbeat_worker.listening is not null
        and (heartbeat_worker.heartbeat_seconds is null or heartbeat_worker.heartbeat_seconds > 0 and heartbeat_worker.heartbeat_seconds <= 86400)) is not true then
        perform leasehold.refuse_heartbeat(heartbeat_worker.heartbeat_seconds, heartbeat_worker.active_jobs, heartbeat_worker.state, heartbeat_worker.listening);
    end if;
    update leasehold.workers w
       set heartbeat_at = v_now, active_jobs = heartbeat_worker.active_jobs, state = heartbeat_worker.state,
           listening = heartbeat_worker.listening, slots = coalesce(heartbeat_worker.slots, w.slots),
           lost_wake_ups = coalesce(heartbeat_worker.lost_wake_ups, w.lost_wake_ups),
           heartbeat_seconds = coalesce(heartbeat_worker.heartbeat_seconds, w.heartbeat_seconds),
           stray_handlers = coalesce(heartbeat_worker.stray_handlers, w.stray_handlers),
           memory = heartbeat_worker.memory, cpu = heartbeat_worker.cpu,
           rss = heartbeat_worker.rss, cpu_user = heartbeat_worker.cpu_user, cpu_system = heartbeat_worker.cpu_system, backoff = heartbeat_worker.backoff,
           backoff_until = v_now + make_interval(secs => case when heartbeat_worker.backoff is not null and heartbeat_worker.backoff_for is not null
                                                          then greatest(0, least(heartbeat_worker.backoff_for, 86400)) end)
     where w.incarnation = heartbeat_worker.incarnation and w.stopped_at is null
    returning w.losses is not null, w.started_at > v_now - interval '1 minute',
           exists (select from leasehold.worker_commands c where c.incarnation = w.incarnation and c.done_at is null)
      into v_has_losses, v_is_new, v_is_told;
    is_known := found;
    if v_has_losses then
        perform leasehold.excuse_jobs(heartbeat_worker.incarnation);
    end if;
    if v_is_told then
        update leasehold.worker_commands c set received_at = v_now
         where c.incarnation = heartbeat_worker.incarnation and c.done_at is null and c.received_at is null and c.expires_at > v_now;
        select jsonb_agg(jsonb_build_object('id', c.id, 'command', c.command, 'args', c.args) order by c.id) into commands
          from leasehold.worker_commands c
         where c.incarnation = heartbeat_worker.incarnation and c.done_at is null and c.received_at is not null;
    end if;
    v_asks := is_known and (heartbeat_worker.listening or v_is_new);
    if is_known and not v_asks then
        v_asks := random() * (select c.reltuples from pg_class c where c.oid = 'leasehold.workers_alive'::regclass) < 64;
    end if;
    if v_asks then
        select p.is_to_listen, p.idle_alike into is_to_listen, idle_alike from leasehold.find_place(heartbeat_worker.incarnation, v_now) p;
    end if;
    return next;
end
$$;
