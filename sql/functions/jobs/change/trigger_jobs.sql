-- Purpose     Run scheduled jobs now, all of them or none: those that wait for their time, and those that wait for
--             their next attempt.
-- Parameters  job_ids
-- Returns     for each its new state: pending, or waiting behind its key
-- Errors      LH002 some do not exist · LH004 some are not scheduled; the message names them
-- Tables      jobs (in id order), finished_jobs (read), job_events (insert), keys as promote_waiting_jobs
create or replace function leasehold.trigger_jobs(job_ids bigint[]) returns table (job_id bigint, state text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_now     timestamptz := leasehold.clock();
    v_ids     bigint[] := array(select distinct u.id from unnest(trigger_jobs.job_ids) u(id) where u.id is not null order by 1);
    v_ready   bigint[];
    v_missing text;
    v_others  text;
    v_keys    text[];
    v_queues  text[];
begin
    -- The state is looked at afterwards (offset 0 sees to it), so that no plan walks all scheduled jobs for it.
    v_ready := array(select l.id from (select j.id, j.state from leasehold.jobs j where j.id = any (v_ids) order by j.id offset 0 for update) l
                      where l.state = 'scheduled' order by l.id);
    if cardinality(v_ready) < cardinality(v_ids) then
        select string_agg(r.id::text, ', ' order by r.id) filter (where a.state is null),
               string_agg(format('job %s is %s', r.id, a.state), ', ' order by r.id) filter (where a.state is not null)
          into v_missing, v_others
          from (select u.id, row_number() over (order by u.id) as place from unnest(v_ids) u(id) where u.id not in (select unnest(v_ready))) r
          left join lateral (select v.state from leasehold.all_jobs v where v.id = r.id order by v.finished_at desc nulls first limit 1) a on true
         where r.place <= 20;
        raise exception using errcode = case when v_missing is null then 'LH004' else 'LH002' end,
            message = coalesce('there is no job ' || v_missing, v_others || '; only scheduled jobs can be triggered'),
            hint = 'none was triggered';
    end if;
    with made_due as (
        update leasehold.jobs j set state = case when j.key is null then 'pending' else 'waiting' end, run_at = v_now, pending_at = null
         where j.id = any (v_ready)
        returning j.id, j.attempt, j.key, j.queue, j.state
    ), noted as (
        insert into leasehold.job_events (job_id, at, event, attempt, message) select d.id, v_now, 'triggered', d.attempt, 'by hand' from made_due d
    )
    select array_agg(d.key) filter (where d.key is not null), array_agg(distinct d.queue) filter (where d.key is null)
      into v_keys, v_queues from made_due d;
    if v_keys is not null then
        perform leasehold.promote_waiting_jobs(v_keys);
    end if;
    if v_queues is not null then
        perform leasehold.wake_idle_workers(v_queues);
    end if;
    return query
    select r.id, j.state from unnest(v_ready) r(id)
     cross join lateral (select o.state from leasehold.jobs o where o.id = r.id offset 0) j order by r.id;
end
$$;
