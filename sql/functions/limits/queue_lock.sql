-- Purpose     The number of the advisory lock that orders claims from a queue against changes of its limits. Claims share
--             it where the queue has no limits and have it alone where it has some (only ever tried, save by a claim that
--             would else come back with nothing, for 50 ms at the most); who changes limits or token buckets has it alone.
--             Claims take it in the order of the queues' names, and wait for nobody who waits for it.
-- Parameters  queue: name
-- Returns     a bigint; two queues may share one, which only makes them take turns
-- Errors      none
-- Tables      none
create or replace function leasehold.queue_lock(queue text) returns bigint
language sql immutable strict parallel safe as $$
select pg_catalog.hashtextextended($1, 4406127381993)
$$;
