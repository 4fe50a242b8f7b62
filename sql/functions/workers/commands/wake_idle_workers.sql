-- Purpose     Send one wake-up for each of these queues that an idle, listening worker serves. A NOTIFY costs every
--             committer a lock, so none is sent for busy workers: they look again by themselves.
-- Parameters  queues: names
-- Returns     how many wake-ups were sent
-- Errors      none
-- Tables      workers (read)
create or replace function leasehold.wake_idle_workers(queues text[]) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_now   timestamptz := leasehold.clock();
    v_woken integer;
begin
    select count(leasehold.send_notice('wake:' || q.queue)) into v_woken
      from (select distinct u.queue from unnest(wake_idle_workers.queues) u(queue)) q
     where exists (select from leasehold.workers w
                    where w.idle and w.listening and w.state = 'ready' and w.heartbeat_at > v_now - interval '5 minutes'
                      and (w.queues = '{}' or q.queue = any (w.queues)));
    return v_woken;
end
$$;
