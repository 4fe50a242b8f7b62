-- Purpose     Tell, by queue, how long the pending job has waited that could have started first.
-- Parameters  none
-- Returns     queue, oldest_run_at, waits_for (seconds)
-- Errors      none
-- Tables      as list_ready_kinds
create or replace function leasehold.list_oldest_ready()
returns table (queue text, oldest_run_at timestamptz, waits_for double precision) language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select r.queue, min(r.oldest_run_at), greatest(0, date_part('epoch', leasehold.clock() - min(r.oldest_run_at)))
  from leasehold.list_ready_kinds() r group by r.queue order by r.queue
$$;
