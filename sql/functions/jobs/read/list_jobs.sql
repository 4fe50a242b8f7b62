-- Purpose     List a page of jobs, newest id first.
-- Parameters  state, queue, kind, key, worker_id: only such; the state stale: held, and the lease has run out · worker_id: or friendly name, as find_worker_ids
--             before_id: only older ones (the last id of the page before)
--             page_size: 1 to 1000 · after_id: only newer ones (what find_page_end answers, so that a rare match is not
--             looked for without end) · created_after, created_before: only what was enqueued from then on, or before then
--             args: only those whose args contain this (jsonb @>) · columns: which of args, output, error, metadata to
--             read; the others are null. null: all of them · most_bytes: the page ends with the job whose args, output,
--             error and metadata, as text, bring it to so many bytes; null: page_size alone decides
--             metadata: only those whose metadata contain this (jsonb @>)
-- Returns     rows of all_jobs; fewer than page_size where there are no more, or where most_bytes are reached
-- Errors      LH001 page_size out of range, state unknown
-- Tables      jobs, finished_jobs (read), as find_worker_ids
create or replace function leasehold.list_jobs(
    state text default null, queue text default null, kind text default null, key text default null,
    before_id bigint default null, page_size integer default 50, after_id bigint default null, worker_id text default null,
    created_after timestamptz default null, created_before timestamptz default null, args jsonb default null,
    columns text[] default null, most_bytes bigint default null, metadata jsonb default null
) returns setof leasehold.all_jobs language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
declare
    v_job     leasehold.all_jobs;
    v_bytes   bigint := 0;
    v_workers text[] := leasehold.find_worker_ids(list_jobs.worker_id);
begin
    if coalesce(list_jobs.page_size, 0) not between 1 and 1000 then
        raise exception using errcode = 'LH001', message = format('page_size must be from 1 to 1000, not %s', coalesce(list_jobs.page_size::text, 'null'));
    end if;
    if list_jobs.state <> all ('{pending,scheduled,waiting,blocked,claimed,running,completed,failed,cancelled,stale}') then
        raise exception using errcode = 'LH001', message = format('there is no state %L', list_jobs.state),
            hint = 'states: pending, scheduled, waiting, blocked, claimed, running, completed, failed, cancelled, stale';
    end if;
    for v_job in
    select a.id, a.state, a.kind, a.queue, a.key, a.priority,
           case when list_jobs.columns is null or 'args' = any (list_jobs.columns) then a.args end,
           case when list_jobs.columns is null or 'output' = any (list_jobs.columns) then a.output end,
           case when list_jobs.columns is null or 'error' = any (list_jobs.columns) then a.error end,
           case when list_jobs.columns is null or 'metadata' = any (list_jobs.columns) then a.metadata end,
           a.attempt, a.spared_attempts, a.max_attempts, a.created_at, a.run_at, a.claimed_at, a.started_at, a.finished_at, a.heartbeat_at,
           a.lease_expires_at, a.worker_id, a.incarnation, a.chain_id, a.chain_position, a.succeeded_by, a.key_group, a.timeout, a.deadline,
           a.traceparent, a.crashes
      from leasehold.all_jobs a
     where (list_jobs.state is null or list_jobs.state = 'stale' or a.state = list_jobs.state)
       and (list_jobs.state is distinct from 'stale' or (a.state in ('claimed', 'running') and a.lease_expires_at < leasehold.clock()))
       and (list_jobs.queue is null or a.queue = list_jobs.queue)
       and (list_jobs.kind is null or a.kind = list_jobs.kind)
       and (list_jobs.key is null or a.key = list_jobs.key)
       and (v_workers is null or a.worker_id = any (v_workers))
       and (list_jobs.before_id is null or a.id < list_jobs.before_id)
       and (list_jobs.after_id is null or a.id > list_jobs.after_id)
       -- What was enqueued then cannot have ended before: this spares whole partitions.
       and (list_jobs.created_after is null or (a.created_at >= list_jobs.created_after and (a.finished_at is null or a.finished_at >= list_jobs.created_after)))
       and (list_jobs.created_before is null or a.created_at < list_jobs.created_before)
       and (list_jobs.args is null or a.args @> list_jobs.args)
       and (list_jobs.metadata is null or a.metadata @> list_jobs.metadata)
     order by a.id desc limit list_jobs.page_size
    loop
        return next v_job;
        if list_jobs.most_bytes is not null then
            v_bytes := v_bytes + coalesce(octet_length(v_job.args::text), 0) + coalesce(octet_length(v_job.output::text), 0)
                       + coalesce(octet_length(v_job.error::text), 0) + coalesce(octet_length(v_job.metadata::text), 0);
            exit when v_bytes >= list_jobs.most_bytes;
        end if;
    end loop;
end
$$;
