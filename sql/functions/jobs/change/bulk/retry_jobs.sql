-- Purpose     Run all failed or cancelled jobs that match once more, oldest id first, as retry_job does for one. A
--             dry run does the same and rolls it back, so its answer is what would happen.
-- Parameters  state: failed or cancelled; null for both · queue, kind, key, error_type: only such
--             finished_after, finished_before: only what ended from then on, or before then
--             job_ids: only these; each of them is answered · after_id: only newer ids (the last one of the call before)
--             batch: how many at the most, 1 to 10000 · dry_run: true unless said otherwise
--             worker_id: only what this worker, by id or friendly name, has or had last · args, metadata: only those whose args, or metadata, contain this (jsonb @>)
--             created_after, created_before: only what was enqueued from then on, or before then
-- Returns     each job with whether it was changed, its state before and now, and the reason where it was skipped
-- Errors      LH001 batch out of range, state unknown
-- Tables      finished_jobs, as reopen_jobs, keys as promote_waiting_jobs
create or replace function leasehold.retry_jobs(
    state text default 'failed', queue text default null, kind text default null, key text default null, error_type text default null,
    finished_after timestamptz default null, finished_before timestamptz default null, job_ids bigint[] default null,
    after_id bigint default null, batch integer default 1000, dry_run boolean default true,
    worker_id text default null, args jsonb default null, metadata jsonb default null,
    created_after timestamptz default null, created_before timestamptz default null
) returns setof leasehold.job_change language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_ids  bigint[];
    v_was  text[];
    v_done record;
begin
    select coalesce(array_agg(f.job_id), '{}'), array_agg(f.was) into v_ids, v_was from leasehold.find_jobs(
        '{failed,cancelled}', state, queue, kind, key, worker_id, error_type, args, metadata,
        created_after, created_before, job_ids, after_id, batch, finished_after, finished_before) f;
    begin
        select array_agg(r.job_id) as ids, array_agg(r.holder) as holders, array_agg(r.key) filter (where r.key is not null) as keys,
               array_agg(distinct r.queue) filter (where r.key is null and r.state = 'pending') as queues
          into v_done from leasehold.reopen_jobs(v_ids, 'by hand') r;
        if v_done.keys is not null then
            perform leasehold.promote_waiting_jobs(v_done.keys);
        end if;
        if v_done.queues is not null then
            perform leasehold.wake_idle_workers(v_done.queues);
        end if;
        return query
        select a.id, j.kind, j.queue, d.id is not null and d.holder is null,
               case when d.id is not null and d.holder is null then w.state else j.state end, j.state,
               case when d.holder is not null then format('job %s has its unique key now', d.holder)
                    when d.id is not null then null
                    when j.id is null then format('there is no job %s', a.id)
                    when j.state = 'completed' then 'it is completed'
                    when j.finished_at is not null then format('it is %s and does not match', j.state)
                    else format('it is %s and needs no retry', j.state) end
          from (select unnest(v_ids) union select unnest(retry_jobs.job_ids) where retry_jobs.after_id is null) a(id)
          left join unnest(v_ids, v_was) w(id, state) on w.id = a.id
          left join unnest(v_done.ids, v_done.holders) d(id, holder) on d.id = a.id
          left join lateral (select * from leasehold.get_job(a.id)) j on true
         order by a.id;
        if retry_jobs.dry_run then
            raise exception using errcode = 'LHDRY', message = 'taken back';
        end if;
    exception when sqlstate 'LHDRY' then null;  -- what was answered stays answered
    end;
end
$$;
