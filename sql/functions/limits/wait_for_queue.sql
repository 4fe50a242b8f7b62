-- Purpose     Take the lock of a queue alone, waiting 50 ms at most, so that an open transaction stalls nobody.
-- Parameters  queue: name
-- Returns     whether we have it now, until the transaction ends
-- Errors      none
-- Tables      the advisory lock of the queue
create or replace function leasehold.wait_for_queue(queue text) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set lock_timeout = '50ms' as $$
#variable_conflict use_column
begin
    perform pg_advisory_xact_lock(leasehold.queue_lock(wait_for_queue.queue));
    return true;
exception when lock_not_available then
    return false;
end
$$;
