-- Purpose     Let workers claim from a paused queue again, at once.
-- Parameters  queue
-- Returns     whether this changed anything
-- Errors      none
-- Tables      queues
create or replace function leasehold.resume_queue(queue text) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    update leasehold.queues q set paused_at = null, reason = null where q.queue = resume_queue.queue and q.paused_at is not null;
    if not found then
        return false;
    end if;
    perform leasehold.wake(resume_queue.queue);
    return true;
end
$$;
