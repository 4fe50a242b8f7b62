-- What a task worker does with a task: claim_task gives it one, settle_task takes its heartbeats and its outcome. It has no
-- incarnation: one is made from its id, the same as for its heartbeats over HTTP. Its lease is the ten minutes after which its
-- tasks count as stale.
create or replace function @schema@.claim_task(role text, worker_id text) returns setof @schema@.worker_tasks language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_incarnation uuid := md5('task worker ' || claim_task.worker_id)::uuid;
    v_id          bigint;
begin
    if coalesce(claim_task.role, '') = '' or coalesce(claim_task.worker_id, '') = '' then
        raise exception using errcode = 'LH001', message = 'a claim needs a role and a worker_id';
    end if;
    perform leasehold.register_worker(v_incarnation, claim_task.worker_id, 'unknown', 0, 'task worker', array[claim_task.role], null, 3, false);
    select c.job_id into v_id from leasehold.claim_jobs(v_incarnation, claim_task.worker_id, array[claim_task.role], null, 1, '10 minutes') c;
    return query select * from @schema@.worker_tasks t where t.id = v_id;
end
$$;
comment on function @schema@.claim_task(text, text) is 'leasehold compat: the next task of a role, for this worker; no row where there is none';

create or replace function @schema@.settle_task(job leasehold.all_jobs, status text, result jsonb, error_message text) returns void language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_ids      bigint[]  := array[(job).id];
    v_attempts integer[] := array[(job).attempt];
    v_refusal  text;
begin
    if (job).incarnation is null or (job).state not in ('claimed', 'running') then
        v_refusal := 'no worker has it';
    elsif (job).incarnation <> md5('task worker ' || (job).worker_id)::uuid then
        raise exception using errcode = 'LH004', message = format('task %s is run by worker %s of leasehold, which settles it itself', (job).id, (job).worker_id);
    elsif settle_task.status = 'completed' then
        perform leasehold.complete_job((job).id, (job).attempt, (job).incarnation, settle_task.result);
    elsif settle_task.status = 'failed' then
        select f.reason into v_refusal from leasehold.fail_jobs((job).incarnation, v_ids, v_attempts, array[jsonb_build_object(
            'type', 'TaskFailed', 'message', coalesce(settle_task.error_message, 'failed'))]) f where f.outcome = 'refused';
    elsif settle_task.status = 'running' and (job).state = 'claimed' then
        select s.reason into v_refusal from leasehold.start_jobs((job).incarnation, v_ids, v_attempts) s;
    else
        select r.reason into v_refusal from leasehold.renew_leases((job).incarnation, v_ids, v_attempts, array[600.0::double precision], array[null::double precision]) r;
    end if;
    if v_refusal is not null then
        raise exception using errcode = 'LH003', message = format('task %s is not yours any more: %s', (job).id, v_refusal);
    end if;
end
$$;
comment on function @schema@.settle_task(leasehold.all_jobs, text, jsonb, text) is 'leasehold compat: a heartbeat or an outcome of a task worker';
