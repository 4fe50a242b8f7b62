-- Purpose     Say which sessions hold the lock of a queue in an open transaction, so that no worker claims from it, in words for
--             people. A claim from a queue with limits has this lock for a moment, so a transaction that is younger than a second
--             does not count; where Postgres does not show us its age, it counts. Looking locks nothing and waits for nobody.
-- Parameters  queue: name
-- Returns     a text such as `session 4711 (application "psql", host 10.0.0.7, role app) holds the lock of queue mail since …`; null
--             where nobody does. A queue without limits counts as held where the lock that claims from it share is held, too
-- Errors      none
-- Tables      limits, pg_locks, pg_database, pg_stat_activity (read)
create or replace function leasehold.describe_queue_holders(queue text) returns text language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off as $$
with held as materialized (
    -- Postgres shows a lock of one number as its upper and its lower half.
    select l.pid, (l.classid::bigint << 32) | l.objid::bigint as number
      from pg_locks l
     where l.locktype = 'advisory' and l.objsubid = 1 and l.granted and l.mode = 'ExclusiveLock' and l.pid is distinct from pg_backend_pid()
       and l.database = (select d.oid from pg_database d where d.datname = current_database())
)
select string_agg(
           coalesce('session ' || h.pid, 'no session')
           || case when a.pid is null then ' (a prepared transaction)'
                   else format(' (application "%s", host %s, role %s)', a.application_name, coalesce(a.client_hostname, host(a.client_addr), 'local'), a.usename) end
           || format(' holds the lock of queue %s', describe_queue_holders.queue)
           || coalesce(' since ' || date_trunc('second', a.xact_start), '')
           || coalesce(', ' || a.state || ' since ' || date_trunc('second', a.state_change), ''), '; ' order by a.xact_start, h.pid)
  from held h
  left join pg_stat_activity a on a.pid = h.pid
 where h.number = leasehold.queue_lock(describe_queue_holders.queue)
   and coalesce(a.xact_start < leasehold.clock() - interval '1 second', true)
   and (exists (select from leasehold.limits l where l.queue = describe_queue_holders.queue)
        or exists (select from held o where o.pid is not distinct from h.pid and o.number = leasehold.open_lock(describe_queue_holders.queue)))
$$;
