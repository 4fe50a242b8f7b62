-- Purpose     Register a worker, under an incarnation that is new for each start of the process.
-- Parameters  incarnation, worker_id, host, pid, version (of leasehold) · queues, kinds: what it serves, null or empty for all · slots
--             listening: whether it hears notifications · name: friendly; made from worker_id where it is null
--             app_version: of the code that has the handlers · memory_limit: bytes it may use · cpu_limit: CPUs it may use
--             heartbeat_seconds: between its heartbeats; null: it is taken for dead after three minutes
-- Returns     its friendly name
-- Errors      LH001 one of incarnation to version, slots or listening is missing; as refuse_heartbeat
-- Tables      workers
create or replace function leasehold.register_worker(
    incarnation uuid, worker_id text, host text, pid integer, version text, queues text[], kinds text[], slots integer, listening boolean,
    name text default null, app_version text default null, memory_limit bigint default null, cpu_limit double precision default null,
    heartbeat_seconds double precision default null
) returns text language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_missing constant text := case
        when register_worker.incarnation is null then 'incarnation' when register_worker.worker_id is null then 'worker_id'
        when register_worker.host is null then 'host' when register_worker.pid is null then 'pid' when register_worker.version is null then 'version'
        when register_worker.slots is null then 'slots' end;
    v_now constant timestamptz := leasehold.clock();
    v_name text;
begin
    if v_missing is not null then
        raise exception using errcode = 'LH001', message = v_missing || ' is missing';
    end if;
    perform leasehold.refuse_heartbeat(register_worker.heartbeat_seconds, listening => register_worker.listening);
    insert into leasehold.workers as w (incarnation, worker_id, host, pid, version, queues, kinds, slots, listening, started_at, heartbeat_at, state,
                                        name, app_version, memory_limit, cpu_limit, heartbeat_seconds)
    values (register_worker.incarnation, register_worker.worker_id, register_worker.host, register_worker.pid, register_worker.version,
            coalesce(register_worker.queues, '{}'), coalesce(register_worker.kinds, '{}'), register_worker.slots, register_worker.listening, v_now, v_now, 'ready',
            coalesce(nullif(register_worker.name, ''), leasehold.name_worker(register_worker.worker_id)), register_worker.app_version,
            register_worker.memory_limit, register_worker.cpu_limit, register_worker.heartbeat_seconds)
    on conflict (incarnation) do update set heartbeat_at = excluded.heartbeat_at, listening = excluded.listening
    returning w.name into v_name;
    return v_name;
end
$$;
