-- Purpose     Run all scheduled jobs that match now, oldest id first, as trigger_jobs does for some by id. A dry run
--             does the same and rolls it back, so its answer is what would happen.
-- Parameters  queue, kind, key: only such · error_type: whose last attempt failed with such an error
--             run_after, run_before: only what is scheduled for then or later, or for earlier
--             job_ids: only these; each of them is answered · after_id: only newer ids (the last one of the call before)
--             batch: how many at the most, 1 to 10000 · dry_run: true unless said otherwise
--             worker_id: only what this worker, by id or friendly name, has or had last · args, metadata: only those whose args, or metadata, contain this (jsonb @>)
--             created_after, created_before: only what was enqueued from then on, or before then
-- Returns     each job with whether it was changed, its state before and now, and the reason where it was skipped
-- Errors      LH001 batch out of range
-- Tables      jobs (in id order), as trigger_jobs
create or replace function leasehold.trigger_scheduled_jobs(
    queue text default null, kind text default null, key text default null, error_type text default null,
    run_after timestamptz default null, run_before timestamptz default null, job_ids bigint[] default null,
    after_id bigint default null, batch integer default 1000, dry_run boolean default true,
    worker_id text default null, args jsonb default null, metadata jsonb default null,
    created_after timestamptz default null, created_before timestamptz default null
) returns setof leasehold.job_change language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_chosen bigint[];
    v_ids    bigint[];
begin
    begin
        -- Judged twice, as in cancel_jobs.
        for round in 1 .. 2 loop
            v_ids := array(select f.job_id from leasehold.find_jobs(
                '{scheduled}', 'scheduled', queue, kind, key, worker_id, error_type, args, metadata,
                created_after, created_before, coalesce(v_ids, job_ids), after_id, batch, null, null, run_after, run_before) f);
            v_chosen := coalesce(v_chosen, v_ids);
            exit when round = 2;
            perform from leasehold.jobs j where j.id = any (v_ids) order by j.id for update;
        end loop;
        perform leasehold.trigger_jobs(v_ids);
        return query
        select a.id, j.kind, j.queue, a.id = any (v_ids), case when a.id = any (v_ids) then 'scheduled' else j.state end, j.state,
               case when a.id = any (v_ids) then null
                    when j.id is null then format('there is no job %s', a.id)
                    when j.state = 'scheduled' then 'it does not match'
                    else format('it is %s', j.state) end
          from (select unnest(v_chosen) union select unnest(trigger_scheduled_jobs.job_ids) where trigger_scheduled_jobs.after_id is null) a(id)
          left join lateral (select * from leasehold.get_job(a.id)) j on true
         order by a.id;
        if trigger_scheduled_jobs.dry_run then
            raise exception using errcode = 'LHDRY', message = 'taken back';
        end if;
    exception when sqlstate 'LHDRY' then null;  -- what was answered stays answered
    end;
end
$$;
