-- Purpose     Wake the workers by hand, busy or idle: the same as NOTIFY leasehold, 'wake' or 'wake:QUEUE'.
-- Parameters  queue: only those that serve it; null: all
-- Returns     nothing
-- Errors      LH001 as refuse_queue
-- Tables      none
create or replace function leasehold.wake(queue text default null) returns void language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
begin
    if wake.queue is not null then
        perform leasehold.refuse_queue(wake.queue);
    end if;
    perform leasehold.send_notice('wake' || coalesce(':' || wake.queue, ''));
end
$$;
