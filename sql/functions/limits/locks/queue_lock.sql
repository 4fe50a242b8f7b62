-- Purpose     Number the advisory lock that orders claims from a queue with limits against one another and against
--             changes of its limits; claims from queues without limits have open_lock. They only try it; but a claim that
--             would come back with nothing waits for it, 50 ms at most. Changes of limits or token buckets take it alone.
--             Claims take the locks in the order of the queues' names, and wait for nobody who waits for them.
-- Parameters  queue: name
-- Returns     a bigint; two queues may share one, which only makes them take turns
-- Errors      none
-- Tables      none
create or replace function leasehold.queue_lock(queue text) returns bigint
language sql immutable strict parallel safe as $$
select pg_catalog.hashtextextended($1, 4406127381993)
$$;
