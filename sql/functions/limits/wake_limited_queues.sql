-- Purpose     Wake idle workers for the pending jobs of queues where jobs have ended, if that made room under a
--             limit.
-- Parameters  queues: of the jobs
-- Returns     how many wake-ups were sent
-- Errors      none
-- Tables      limits, jobs (read, an index entry for each queue), as wake_idle_workers
create or replace function leasehold.wake_limited_queues(queues text[]) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_queues text[];
begin
    v_queues := array(select q.queue from (select distinct u.queue from unnest(wake_limited_queues.queues) u(queue)) q
                       where exists (select from leasehold.limits l where l.queue = q.queue and l.max_running is not null)
                         and (exists (select from leasehold.lane_marks)
                              or (select j.id from leasehold.jobs j where j.state = 'pending' and j.queue = q.queue limit 1) is not null));
    return case when v_queues = '{}' then 0 else leasehold.wake_idle_workers(v_queues) end;
end
$$;
