-- Purpose     Run all scheduled jobs that match now, oldest id first, as trigger_jobs does for some by id. A dry run
--             does the same and rolls it back, so its answer is what would happen.
-- Parameters  queue, kind, key: only such · error_type: whose last attempt failed with such an error
--             run_after, run_before: only what is scheduled for then or later, or for earlier
--             job_ids: only these; each of them is answered · after_id: only newer ids (the last one of the call before)
--             batch: how many at the most, 1 to 10000 · dry_run: true unless said otherwise
--             worker_id: only what this worker has, or had last · args, metadata: only those whose args, or metadata, contain this (jsonb @>)
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
    v_ids bigint[];
begin
    if coalesce(trigger_scheduled_jobs.batch, 0) not between 1 and 10000 then
        raise exception using errcode = 'LH001',
            message = format('batch must be from 1 to 10000, not %s', coalesce(trigger_scheduled_jobs.batch::text, 'null'));
    end if;
    begin
        -- Locked and judged in one: a job that changed while we waited for it is judged once more as it is then.
        v_ids := array(select j.id from leasehold.jobs j
                        where j.state = 'scheduled'
                          and (trigger_scheduled_jobs.queue is null or j.queue = trigger_scheduled_jobs.queue)
                          and (trigger_scheduled_jobs.kind is null or j.kind = trigger_scheduled_jobs.kind)
                          and (trigger_scheduled_jobs.key is null or j.key = trigger_scheduled_jobs.key)
                          and (trigger_scheduled_jobs.error_type is null or j.error ->> 'type' = trigger_scheduled_jobs.error_type)
                          and (trigger_scheduled_jobs.run_after is null or j.run_at >= trigger_scheduled_jobs.run_after)
                          and (trigger_scheduled_jobs.run_before is null or j.run_at < trigger_scheduled_jobs.run_before)
                          and (trigger_scheduled_jobs.worker_id is null or j.worker_id = trigger_scheduled_jobs.worker_id)
                          and (trigger_scheduled_jobs.args is null or j.args @> trigger_scheduled_jobs.args)
                          and (trigger_scheduled_jobs.metadata is null or j.metadata @> trigger_scheduled_jobs.metadata)
                          and (trigger_scheduled_jobs.created_after is null or j.created_at >= trigger_scheduled_jobs.created_after)
                          and (trigger_scheduled_jobs.created_before is null or j.created_at < trigger_scheduled_jobs.created_before)
                          and (trigger_scheduled_jobs.job_ids is null or j.id = any (trigger_scheduled_jobs.job_ids))
                          and (trigger_scheduled_jobs.after_id is null or j.id > trigger_scheduled_jobs.after_id)
                        order by j.id limit trigger_scheduled_jobs.batch for update);
        perform leasehold.trigger_jobs(v_ids);
        return query
        select a.id, j.kind, j.queue, a.id = any (v_ids), case when a.id = any (v_ids) then 'scheduled' else j.state end, j.state,
               case when a.id = any (v_ids) then null
                    when j.id is null then format('there is no job %s', a.id)
                    when j.state = 'scheduled' then 'it does not match'
                    else format('it is %s', j.state) end
          from (select unnest(v_ids) union select unnest(trigger_scheduled_jobs.job_ids) where trigger_scheduled_jobs.after_id is null) a(id)
          left join lateral (select * from leasehold.get_job(a.id)) j on true
         order by a.id;
        if trigger_scheduled_jobs.dry_run then
            raise exception using errcode = 'LHDRY', message = 'taken back';
        end if;
    exception when sqlstate 'LHDRY' then null;  -- what was answered stays answered
    end;
end
$$;
