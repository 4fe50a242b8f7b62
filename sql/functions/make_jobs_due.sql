-- Purpose     Make scheduled jobs whose time has come claimable. A job with a key goes to the end of its key's line and
--             is promoted from there when the key is free.
-- Parameters  batch: how many at the most · notify: wake idle workers
-- Returns     how many became due
-- Errors      none
-- Tables      jobs (rows locked, locked ones skipped), then as promote_waiting_jobs
-- Callers     the scheduler, claim_jobs
create or replace function leasehold.make_jobs_due(batch integer default 1000, notify boolean default true)
returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_now    timestamptz := leasehold.clock();
    v_queues text[];
    v_keys   text[];
    v_due    integer;
begin
    with due as materialized (
        select j.ctid as place from leasehold.jobs j
         where j.state = 'scheduled' and j.run_at <= v_now
         order by j.run_at limit make_jobs_due.batch for update skip locked
    ), made as (
        update leasehold.jobs j set state = case when j.key is null then 'pending' else 'waiting' end
         where j.ctid = any (array(select place from due))
        returning j.queue, j.key
    )
    select count(*), array_agg(distinct m.queue) filter (where m.key is null), array_agg(distinct m.key) filter (where m.key is not null)
      into v_due, v_queues, v_keys from made m;
    if v_keys is not null then
        perform leasehold.promote_waiting_jobs(v_keys, make_jobs_due.notify);
    end if;
    if make_jobs_due.notify and v_queues is not null then
        perform leasehold.wake_idle_workers(v_queues);
    end if;
    return v_due;
end
$$;
