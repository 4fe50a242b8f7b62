-- Purpose     Register a worker, under an incarnation that is new for each start of the process.
-- Parameters  incarnation, worker_id, host, pid, version (of leasehold) · queues, kinds: what it serves, null or empty for all · slots
--             listening: whether it hears notifications · name: friendly; made from worker_id where it is null
--             app_version: of the code that has the handlers · memory_limit: bytes it may use · cpu_limit: CPUs it may use
--             heartbeat_seconds: between its heartbeats; null: it is taken for dead after three minutes
-- Returns     its friendly name
-- Errors      LH001 as refuse_heartbeat
-- Tables      workers
create or replace function leasehold.register_worker(
    incarnation uuid, worker_id text, host text, pid integer, version text, queues text[], kinds text[], slots integer, listening boolean,
    name text default null, app_version text default null, memory_limit bigint default null, cpu_limit double precision default null,
    heartbeat_seconds double precision default null
) returns text language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select leasehold.refuse_heartbeat(heartbeat_seconds);
insert into leasehold.workers (incarnation, worker_id, host, pid, version, queues, kinds, slots, listening, started_at, heartbeat_at, state,
                               name, app_version, memory_limit, cpu_limit, heartbeat_seconds)
select incarnation, worker_id, host, pid, version, coalesce(queues, '{}'), coalesce(kinds, '{}'), slots, listening, t.now, t.now, 'ready',
       coalesce(nullif(name, ''), leasehold.name_worker(worker_id)), app_version, memory_limit, cpu_limit, heartbeat_seconds
  from (select leasehold.clock() as now) t
on conflict (incarnation) do update set heartbeat_at = excluded.heartbeat_at, listening = excluded.listening
returning name
$$;
