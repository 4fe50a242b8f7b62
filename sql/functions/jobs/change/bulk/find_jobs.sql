-- Purpose     Find the jobs that a bulk change means: the oldest of those that match all that is given. It locks nothing.
-- Parameters  states: those that the change knows · state: only in this one of them
--             queue, kind, key, worker_id, error_type, args, metadata, created_after, created_before, finished_after, finished_before,
--             run_after, run_before, job_ids, after_id, batch: as the bulk changes, for which null does not matter
-- Returns     the jobs with their states, oldest id first
-- Errors      LH001 batch out of range, state unknown
-- Tables      jobs, finished_jobs (read), as find_worker_ids
create or replace function leasehold.find_jobs(
    states text[], state text, queue text, kind text, key text, worker_id text, error_type text, args jsonb, metadata jsonb,
    created_after timestamptz, created_before timestamptz, job_ids bigint[], after_id bigint, batch integer,
    finished_after timestamptz default null, finished_before timestamptz default null,
    run_after timestamptz default null, run_before timestamptz default null
) returns table (job_id bigint, was text) language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
    c_ended   constant text[] := '{completed,failed,cancelled}';
    v_workers text[] := leasehold.find_worker_ids(find_jobs.worker_id);
    v_states  text[] := case when find_jobs.state is null then find_jobs.states else array[find_jobs.state] end;
begin
    if coalesce(find_jobs.batch, 0) not between 1 and 10000 then
        raise exception using errcode = 'LH001', message = format('batch must be from 1 to 10000, not %s', coalesce(find_jobs.batch::text, 'null'));
    end if;
    if not v_states <@ find_jobs.states then
        raise exception using errcode = 'LH001', message = format('state must be one of %s, not %L', array_to_string(find_jobs.states, ', '), find_jobs.state);
    end if;
    return query
    select a.id, a.state from leasehold.all_jobs a
     where (find_jobs.state is null or a.state = find_jobs.state) and (find_jobs.state is not null or a.state = any (find_jobs.states))
       -- A plan for open jobs alone locks no days of finished ones: that no row is before '-infinity' prunes them. (That none is
       -- null does so in Postgres 16; later ones know it too early.)
       and (v_states && c_ended or a.finished_at is null or a.finished_at < '-infinity')
       and (find_jobs.queue is null or a.queue = find_jobs.queue) and (find_jobs.kind is null or a.kind = find_jobs.kind)
       and (find_jobs.key is null or a.key = find_jobs.key) and (v_workers is null or a.worker_id = any (v_workers))
       and (find_jobs.error_type is null or a.error ->> 'type' = find_jobs.error_type)
       and (find_jobs.args is null or a.args @> find_jobs.args) and (find_jobs.metadata is null or a.metadata @> find_jobs.metadata)
       -- What was enqueued then cannot have ended before: this spares whole partitions.
       and (find_jobs.created_after is null
            or (a.created_at >= find_jobs.created_after and (a.finished_at is null or a.finished_at >= find_jobs.created_after)))
       and (find_jobs.created_before is null or a.created_at < find_jobs.created_before)
       and (find_jobs.finished_after is null or a.finished_at >= find_jobs.finished_after)
       and (find_jobs.finished_before is null or a.finished_at < find_jobs.finished_before)
       and (find_jobs.run_after is null or a.run_at >= find_jobs.run_after) and (find_jobs.run_before is null or a.run_at < find_jobs.run_before)
       and (find_jobs.job_ids is null or a.id = any (find_jobs.job_ids)) and (find_jobs.after_id is null or a.id > find_jobs.after_id)
     order by a.id limit find_jobs.batch;
end
$$;
