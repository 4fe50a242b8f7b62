-- Purpose     Number the advisory lock that claims from a queue without limits share: one of sixteen for all queues, since
--             a lock for each would fill the lock table of the server where thousands of queues have jobs. Whoever sets
--             limits or pauses takes it alone, with queue_lock, and so knows that no claim is under way.
-- Parameters  queue: name
-- Returns     a bigint
-- Errors      none
-- Tables      none
create or replace function leasehold.open_lock(queue text) returns bigint
language sql immutable strict parallel safe as $$
select 4406127381993000 + (leasehold.queue_lock($1) & 15)
$$;
