-- Purpose     Take the lock of a queue alone, between two claims. It waits 50 ms at a time, two seconds in all: while
--             one session waits for a lock, later ones do not get it, and claims must go on.
-- Parameters  queue: name
-- Returns     nothing
-- Errors      LH004 somebody keeps it
-- Tables      the advisory locks of the queue
create or replace function leasehold.lock_queue(queue text) returns void language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    for round in 1 .. 40 loop
        if leasehold.wait_for_queue(lock_queue.queue, true) then
            return;
        end if;
    end loop;
    raise exception using errcode = 'LH004', message = format('somebody claims from queue %L in a transaction that does not end', lock_queue.queue),
        hint = 'select pid, query from pg_stat_activity where state = ''idle in transaction''';
end
$$;
