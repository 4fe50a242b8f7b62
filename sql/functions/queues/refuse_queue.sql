-- Purpose     Refuse a name that no queue can have, because no job with it would be taken.
-- Parameters  queue
-- Returns     nothing
-- Errors      LH001 no name, or what refuse_job says of a job's queue: its length, control characters, a comma, a space at an end
-- Tables      none
create or replace function leasehold.refuse_queue(queue text) returns void language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
declare
    v_complaint text := case when refuse_queue.queue is null then 'queue is missing' else
        leasehold.refuse_job('any', null, refuse_queue.queue, null, null, null, null, null, null, null, null, null, null, null) end;
begin
    if v_complaint is not null then
        raise exception using errcode = 'LH001', message = v_complaint;
    end if;
end
$$;
