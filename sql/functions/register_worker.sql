-- Purpose     Make a worker known, under an incarnation that is new for each start of the process.
-- Parameters  incarnation, worker_id, host, pid, version · queues, kinds: what it serves, empty for all · slots
--             listening: whether it hears notifications
-- Returns     nothing
-- Errors      none
-- Tables      workers
-- Callers     presence, workers in other languages
create or replace function leasehold.register_worker(
    incarnation uuid, worker_id text, host text, pid integer, version text, queues text[], kinds text[], slots integer, listening boolean
) returns void language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
insert into leasehold.workers (incarnation, worker_id, host, pid, version, queues, kinds, slots, listening, started_at, heartbeat_at, state)
select incarnation, worker_id, host, pid, version, queues, kinds, slots, listening, t.now, t.now, 'ready' from (select leasehold.clock() as now) t
on conflict (incarnation) do update set heartbeat_at = excluded.heartbeat_at, listening = excluded.listening
$$;
