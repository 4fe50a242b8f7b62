-- Purpose     Let workers claim from a paused queue again, at once.
-- Parameters  queue
-- Returns     whether this changed anything
-- Errors      LH001 as refuse_queue
-- Tables      queues
create or replace function leasehold.resume_queue(queue text) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    perform leasehold.refuse_queue(resume_queue.queue);
    update leasehold.queues q set paused_at = null, reason = null where q.queue = resume_queue.queue and q.paused_at is not null;
    if not found then
        return false;
    end if;
    perform leasehold.wake(resume_queue.queue);
    return true;
end
$$;
