-- Purpose     Stop claims from a queue. Running jobs go on, and jobs may still be enqueued. Every claim that begins
--             afterwards sees it. Workers are told at once, so that they hand back what they have claimed and not
--             begun.
-- Parameters  queue · reason: for people
-- Returns     whether this changed anything
-- Errors      LH001 no name
-- Tables      queues
create or replace function leasehold.pause_queue(queue text, reason text default null) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    if coalesce(pause_queue.queue, '') = '' then
        raise exception using errcode = 'LH001', message = 'a queue to pause must be named';
    end if;
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
