-- Purpose     Wake the workers by hand, busy or idle: the same as NOTIFY leasehold, 'wake' or 'wake:QUEUE'.
-- Parameters  queue: only those that serve it; null: all
-- Returns     nothing
-- Errors      none
-- Tables      none
create or replace function leasehold.wake(queue text default null) returns void language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select leasehold.send_notice('wake' || coalesce(':' || queue, ''))
$$;
