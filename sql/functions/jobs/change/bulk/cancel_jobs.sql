-- Purpose     Cancel all unfinished jobs that match, oldest id first, as cancel_job does for one. A dry run only looks, so
--             it costs no writes, and does not see that another session holds a row.
-- Parameters  state: only in this one · queue, kind, key: only such · error_type: whose last attempt failed with such an error
--             created_after, created_before: only what was enqueued from then on, or before then
--             job_ids: only these; each of them is answered · after_id: only newer ids (the last one of the call before)
--             reason: for people · batch: how many at the most, 1 to 10000 · dry_run: true unless said otherwise
--             worker_id: only what this worker, by id or friendly name, has or had last · args, metadata: only those whose args, or metadata, contain this (jsonb @>)
-- Returns     each job with whether it was changed, its state before and now, and the reason where it was skipped: also where
--             another session has held its row for two seconds
-- Errors      LH001 batch out of range, state unknown
-- Tables      jobs (held ones first, because a completion holds its own job when it locks those that it unblocks; each in id
--             order), as finish_jobs and close_chains, then keys as promote_waiting_jobs
create or replace function leasehold.cancel_jobs(
    state text default null, queue text default null, kind text default null, key text default null, error_type text default null,
    created_after timestamptz default null, created_before timestamptz default null, job_ids bigint[] default null,
    after_id bigint default null, reason text default null, batch integer default 1000, dry_run boolean default true,
    worker_id text default null, args jsonb default null, metadata jsonb default null
) returns setof leasehold.job_change language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set lock_timeout = '2s' as $$
#variable_conflict use_column
declare
    v_chosen bigint[];
    v_busy   bigint[];
    v_ids    bigint[];
    v_done   record;
    v_keys   text[];
begin
    -- Judged twice, before they are locked and after it: a job that changed while we waited for it is judged as it is then.
    for round in 1 .. 2 loop
        v_ids := array(select f.job_id from leasehold.find_jobs(
            '{pending,scheduled,waiting,blocked,claimed,running}', state, queue, kind, key, worker_id, error_type, args, metadata,
            created_after, created_before, coalesce(v_ids, job_ids), after_id, batch) f);
        v_chosen := coalesce(v_chosen, v_ids);
        exit when round = 2 or cancel_jobs.dry_run;
        begin
            perform from leasehold.jobs j where j.id = any (v_ids) and j.incarnation is not null order by j.id for update;
            perform from leasehold.jobs j where j.id = any (v_ids) order by j.id for update;
        exception when lock_not_available then
            v_ids := array(select j.id from leasehold.jobs j where j.id = any (v_chosen) order by j.id for update skip locked);
            v_busy := array(select j.id from leasehold.jobs j where j.id = any (v_chosen) and j.id <> all (v_ids));
        end;
    end loop;
    if cancel_jobs.dry_run then
        select array_agg(j.id) as ids, array_agg(j.state) as states into v_done from leasehold.jobs j where j.id = any (v_ids);
    else
        select array_agg(f.id) as ids, array_agg(f.state) as states, array_agg(coalesce(f.chain_id, f.id)) as chains,
               array_agg(f.key) filter (where f.key is not null and f.state not in ('waiting', 'scheduled', 'blocked')) as keys,
               count(leasehold.send_notice(format('lost:%s:%s:cancelled', f.id, f.attempt))) filter (where f.incarnation is not null) as told
          into v_done
          from leasehold.finish_jobs(
                   v_ids, 'cancelled',
                   array_fill(jsonb_strip_nulls(jsonb_build_object('type', 'Cancelled', 'message', coalesce(cancel_jobs.reason, 'cancelled by hand'),
                                                                   'by', nullif(current_setting('leasehold.actor', true), ''))), array[cardinality(v_ids)]),
                   null, null, null, leasehold.clock()) f;
        if v_done.ids is not null then
            v_keys := v_done.keys || leasehold.close_chains(v_done.chains, false);
        end if;
        if v_keys <> '{}' then
            perform leasehold.promote_waiting_jobs(v_keys);
        end if;
    end if;
    return query
    select a.id, j.kind, j.queue, d.id is not null, coalesce(d.state, j.state), case when d.id is not null then 'cancelled' else j.state end,
           case when d.id is not null then null
                when a.id = any (v_busy) then coalesce(leasehold.describe_row_holders(a.id), 'another session held its row')
                when j.id is null then format('there is no job %s', a.id)
                else format('it is %s', j.state) || case when j.finished_at is null then ' and does not match' else '' end end
      from (select unnest(v_chosen) union select unnest(cancel_jobs.job_ids) where cancel_jobs.after_id is null) a(id)
      left join unnest(v_done.ids, v_done.states) d(id, state) on d.id = a.id
      left join lateral (select * from leasehold.get_job(a.id)) j on true
     order by a.id;
end
$$;
