-- Purpose     Change existing jobs as the new jobs with the same unique key ask for, which are not made. If several
--             new jobs name one existing job, the last one that sets a field counts. claim_unique_jobs has locked the
--             existing jobs.
-- Parameters  jobs, ids, notify: as add_jobs · on_conflict: for each what claim_unique_jobs said
-- Returns     for each job replaced, extended, overwritten, or null where nothing was changed (a worker holds it)
-- Errors      none
-- Tables      jobs as change_jobs, then keys as promote_waiting_jobs
create or replace function leasehold.apply_unique_jobs(jobs jsonb, ids bigint[], on_conflict text[], notify boolean)
returns text[] language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_now     timestamptz := leasehold.clock();
    v_changed record;
begin
    with asked as materialized (
        select n.id, n.place, nullif(w.args, 'null') as args, nullif(w.metadata, 'null') as metadata, w.priority,
               greatest(v_now, coalesce(w.run_at, v_now + make_interval(secs => w.delay))) as run_at,
               n.change in ('replace', 'overwrite') as replaces, n.change in ('extend', 'overwrite') as extends
          from unnest(apply_unique_jobs.ids, apply_unique_jobs.on_conflict) with ordinality n(id, change, place)
          join rows from (jsonb_to_recordset(apply_unique_jobs.jobs) as (
                   args jsonb, metadata jsonb, priority integer, delay double precision, run_at timestamptz)) with ordinality
               as w(args, metadata, priority, delay, run_at, place) on w.place = n.place
         where n.change in ('replace', 'extend', 'overwrite')
    ), wanted as materialized (
        select a.id, (array_agg(coalesce(a.args, '{}') order by a.place desc) filter (where a.replaces))[1] as args,
               (array_agg(a.metadata order by a.place desc) filter (where a.replaces and a.metadata is not null))[1] as metadata,
               (array_agg(a.priority order by a.place desc) filter (where a.replaces and a.priority is not null))[1] as priority,
               (array_agg(a.run_at order by a.place desc) filter (where a.extends))[1] as run_at
          from asked a group by a.id
    )
    select array_agg(c.id) as ids, array_agg(c.key) filter (where c.key is not null) as keys,
           array_agg(distinct c.queue) filter (where c.state = 'pending' or c.state = 'scheduled' and c.run_at < v_now + interval '2 minutes') as queues
      into v_changed
      from (select array_agg(w.id) as ids, array_agg(w.args) as args, array_agg(w.metadata) as metadata, array_agg(w.priority) as priorities,
                   array_agg(w.run_at) as run_ats from wanted w) a
     cross join lateral leasehold.change_jobs(a.ids, a.args, a.metadata, a.priorities, null, null, a.run_ats) c;
    if v_changed.keys is not null then
        perform leasehold.promote_waiting_jobs(v_changed.keys, apply_unique_jobs.notify);
    end if;
    if apply_unique_jobs.notify and v_changed.queues is not null then
        perform leasehold.wake_idle_workers(v_changed.queues);
    end if;
    return array(select case when n.id = any (v_changed.ids)
                             then case n.change when 'replace' then 'replaced' when 'extend' then 'extended' when 'overwrite' then 'overwritten' end end
                   from unnest(apply_unique_jobs.ids, apply_unique_jobs.on_conflict) with ordinality n(id, change, place) order by n.place);
end
$$;
