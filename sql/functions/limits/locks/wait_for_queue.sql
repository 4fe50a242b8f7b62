-- Purpose     Take the lock of a queue alone, waiting 50 ms at most, so that an open transaction stalls nobody.
-- Parameters  queue: name · and_open: the lock that claims without limits share, too
-- Returns     whether we have it now, until the transaction ends
-- Errors      none
-- Tables      the advisory locks of the queue
create or replace function leasehold.wait_for_queue(queue text, and_open boolean default false) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set lock_timeout = '50ms' as $$
#variable_conflict use_column
begin
    perform pg_advisory_xact_lock(leasehold.queue_lock(wait_for_queue.queue));
    if wait_for_queue.and_open then
        perform pg_advisory_xact_lock(leasehold.open_lock(wait_for_queue.queue));
    end if;
    return true;
exception when lock_not_available then
    return false;
end
$$;
