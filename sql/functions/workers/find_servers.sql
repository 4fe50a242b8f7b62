-- Purpose     Find the live workers that could take a job of this queue and kind.
-- Parameters  queue, kind: of the job
-- Returns     one row: alive: workers that are ready or paused and live (is_alive) · of_queue, of_kind: those of them with the
--             queue, with the kind · serving: those with both that are not paused · incarnations: of these
--             paused: those with both that are
-- Errors      none
-- Tables      workers, jobs (read)
create or replace function leasehold.find_servers(queue text, kind text)
returns table (alive bigint, of_queue bigint, of_kind bigint, serving bigint, incarnations uuid[], paused bigint) language sql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
select count(*), count(*) filter (where s.queue), count(*) filter (where s.kind), count(*) filter (where s.queue and s.kind and not s.is_paused),
       array_agg(s.incarnation) filter (where s.queue and s.kind and not s.is_paused), count(*) filter (where s.queue and s.kind and s.is_paused)
  from (select w.incarnation, w.state = 'paused' as is_paused,
               w.queues = '{}' or find_servers.queue = any (w.queues) as queue, w.kinds = '{}' or find_servers.kind = any (w.kinds) as kind
          from leasehold.workers w
         cross join (select leasehold.clock() as now) t
         where w.state in ('ready', 'paused') and leasehold.is_alive(w, t.now)) s
$$;
