-- Purpose     Move jobs to finished_jobs, in whatever state they are. The caller has decided that they end, and calls
--             close_chains and promote_waiting_jobs afterwards. complete_jobs does the same by itself, for speed.
-- Parameters  job_ids: which · state: completed, failed or cancelled · errors, outputs, successors: JSON, JSON and the id of
--             the job that continues the chain, for each, or null · ran_for: seconds since the handler started, for each
--             (null: it has only just), or null as a whole: started_at stays as it is · at: the time
-- Returns     the jobs as they were
-- Errors      none
-- Tables      jobs (deleted, in id order), finished_jobs (insert), as wake_limited_queues, nothing else
create or replace function leasehold.finish_jobs(
    job_ids bigint[], state text, errors jsonb[], outputs jsonb[], successors bigint[], ran_for double precision[], at timestamptz
) returns setof leasehold.jobs language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off as $$
#variable_conflict use_column
declare
    v_queues text[];
begin
    if exists (select from leasehold.limits l where l.max_running is not null) then
        v_queues := array(select j.queue from leasehold.jobs j where j.id = any (finish_jobs.job_ids) and j.incarnation is not null);
    end if;
    return query
    with given as materialized (
        select e.* from unnest(finish_jobs.job_ids, finish_jobs.errors, finish_jobs.outputs, finish_jobs.successors, finish_jobs.ran_for)
                        e(id, error, output, succeeded_by, ran_for) order by e.id
    ), ended as (
        delete from leasehold.jobs j using given e where j.id = e.id and j.id = any (finish_jobs.job_ids)
        returning j as job, e.error, e.output, e.succeeded_by, e.ran_for
    ), moved as (
        insert into leasehold.finished_jobs (id, created_at, run_at, claimed_at, started_at, heartbeat_at, finished_at, incarnation,
               priority, attempt, spared_attempts, max_attempts, state, kind, queue, key, worker_id, args, metadata, error, output,
               chain_id, chain_position, key_group, timeout, deadline, traceparent, crashes, succeeded_by)
        select (job).id, (job).created_at, (job).run_at, (job).claimed_at,
               case when finish_jobs.ran_for is null or (job).claimed_at is null then (job).started_at
                    else coalesce((job).started_at, greatest((job).claimed_at, finish_jobs.at - make_interval(secs => least(greatest(0, ran_for), leasehold.longest_time())))) end,
               (job).heartbeat_at, finish_jobs.at, (job).incarnation,
               (job).priority, (job).attempt, (job).spared_attempts, (job).max_attempts, finish_jobs.state, (job).kind, (job).queue,
               (job).key, (job).worker_id, (job).args, (job).metadata, error, output,
               (job).chain_id, (job).chain_position, (job).key_group, (job).timeout, (job).deadline, (job).traceparent, (job).crashes, succeeded_by
          from ended
    )
    select (e.job).* from ended e order by (e.job).id;
    if v_queues <> '{}' then
        perform leasehold.wake_limited_queues(v_queues);
    end if;
end
$$;
