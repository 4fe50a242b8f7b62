-- Purpose     Stop claims from a queue. Running jobs go on, and jobs may still be enqueued. It waits for the claims that
--             are under way: once it has committed, nobody gets a job of the queue any more. If a claim is in a
--             transaction that does not end within two seconds, the queue is paused all the same, with a warning that this
--             one claim may still commit. Workers are told at once, so that they hand back what they have not begun.
-- Parameters  queue · reason: for people
-- Returns     whether this changed anything
-- Errors      LH001 as refuse_queue; LH004 of lock_queue is a warning here
-- Tables      advisory locks of the queue, as lock_queue, queues
create or replace function leasehold.pause_queue(queue text, reason text default null) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    perform leasehold.refuse_queue(pause_queue.queue);
    begin
        perform leasehold.lock_queue(pause_queue.queue);
    exception when sqlstate 'LH004' then
        raise warning using message = sqlerrm, hint = 'the queue is paused, but what that transaction has claimed it may still get';
    end;
    insert into leasehold.queues as q (queue, paused_at, reason)
    values (pause_queue.queue, leasehold.clock(), pause_queue.reason)
    on conflict (queue) do update set paused_at = excluded.paused_at, reason = excluded.reason where q.paused_at is null;
    if not found then
        return false;
    end if;
    perform leasehold.send_notice('pause:' || pause_queue.queue);
    return true;
end
$$;
