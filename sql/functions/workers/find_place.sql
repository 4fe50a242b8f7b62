-- Purpose     Tell a worker whether it is one of those that listen, and how many idle ones look beside it. Postgres signals each listening
--             session at each NOTIFY, so not more than 32 workers of a fleet listen: those that started first, of each sort that serves the same queues
--             and kinds its share, two at least. Who fails to listen within a minute is passed by. Paused workers have 32 places of their own.
-- Parameters  incarnation: of the worker · at: now
-- Returns     is_to_listen: true or false · idle_alike: idle workers that live and serve the same queues and kinds; both null where the
--             worker is unknown
-- Errors      none
-- Tables      workers (read)
create or replace function leasehold.find_place(incarnation uuid, at timestamptz)
returns table (is_to_listen boolean, idle_alike bigint) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select c.elders < greatest(2, 32.0 * c.alike / c.alive), c.idle_alike
  from (select count(*) as alive, count(*) filter (where f.is_alike) as alike, count(*) filter (where f.is_alike and f.idle) as idle_alike,
               count(*) filter (where f.is_alike and f.is_elder and (f.listening or f.started_at > find_place.at - interval '1 minute')) as elders
          from (select w.idle, w.listening, w.started_at, w.kinds_key = m.kinds_key and w.queues = m.queues as is_alike,
                       (w.state = 'ready') = (m.state = 'ready') and (w.started_at, w.incarnation) < (m.started_at, m.incarnation) as is_elder
                  from leasehold.workers m join leasehold.workers w on w.stopped_at is null
                   and w.heartbeat_at > find_place.at - make_interval(secs => coalesce(2.5 * w.heartbeat_seconds, 180))
                 where m.incarnation = find_place.incarnation and m.stopped_at is null) f) c
 where c.alive > 0
$$;
