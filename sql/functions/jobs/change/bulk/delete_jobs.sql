-- Purpose     Remove all jobs that match and that nobody holds, oldest id first, as delete_job does for one. A dry
--             run only looks, and reckons with what would be gone by then.
-- Parameters  state: only in this one · queue, kind, key: only such · error_type: whose last attempt failed with such an error
--             created_before, finished_before: only what was enqueued, or has ended, before then
--             job_ids: only these; each of them is answered · after_id: only newer ids (the last one of the call before)
--             batch: how many at the most, 1 to 10000 · dry_run: true unless said otherwise
--             worker_id: only what this worker, by id or friendly name, has or had last · args, metadata: only those whose args, or metadata, contain this (jsonb @>)
--             created_after: only what was enqueued from then on
-- Returns     each job with whether it was removed, its state before (and now, where it was skipped), and the reason then
-- Errors      LH001 batch out of range, state unknown (what delete_job refuses becomes a reason)
-- Tables      as delete_job, one job after another
create or replace function leasehold.delete_jobs(
    state text default null, queue text default null, kind text default null, key text default null, error_type text default null,
    created_before timestamptz default null, finished_before timestamptz default null, job_ids bigint[] default null,
    after_id bigint default null, batch integer default 1000, dry_run boolean default true,
    worker_id text default null, args jsonb default null, metadata jsonb default null,
    created_after timestamptz default null
) returns setof leasehold.job_change language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_job    leasehold.all_jobs;
    v_change leasehold.job_change;
    v_ids    bigint[];
    v_id     bigint;
    v_gone   bigint[] := '{}';
begin
    v_ids := array(select f.job_id from leasehold.find_jobs(
        '{pending,scheduled,waiting,blocked,completed,failed,cancelled}', state, queue, kind, key, worker_id, error_type, args, metadata,
        created_after, created_before, job_ids, after_id, batch, null, finished_before) f);
    for v_id in select u.id from (select unnest(v_ids) union select unnest(delete_jobs.job_ids) where delete_jobs.after_id is null) u(id)
                 where u.id is not null order by u.id loop
        select a.* into v_job from leasehold.get_job(v_id) a;
        v_change := row(v_id, v_job.kind, v_job.queue, false, v_job.state, v_job.state, null)::leasehold.job_change;
        if v_job.id is null then
            v_change.reason := format('there is no job %s', v_id);
        elsif v_id <> all (v_ids) then
            v_change.reason := format('it is %s', v_job.state) || case when v_job.state in ('claimed', 'running') then '' else ' and does not match' end;
        else
            if not delete_jobs.dry_run then
                perform leasehold.lock_chains(array[v_job.chain_id]);
                select a.* into v_job from leasehold.get_job(v_id) a;
            end if;
            v_change.reason := case when v_job.id is null then format('there is no job %s', v_id)
                                    else coalesce(leasehold.describe_links(v_job), leasehold.describe_waiters(v_job.chain_id, v_gone || v_job.chain_id)) end;
            v_change.was := coalesce(v_job.state, v_change.was);
            v_change.now := v_job.state;
            if v_change.reason is null then
                if not delete_jobs.dry_run then
                    perform leasehold.delete_chain(v_job.chain_id);
                end if;
                v_gone := v_gone || v_job.chain_id;
                v_change.changed := true;
                v_change.now := null;
            end if;
        end if;
        return next v_change;
    end loop;
end
$$;
