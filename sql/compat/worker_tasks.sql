-- Jobs with the columns of task workers. A branch for each status, so that whoever asks for one reads its rows alone.
create or replace view @schema@.worker_tasks with (security_invoker = true) as
select j.id, j.queue as role,
       case when j.key ~ '^(0|-?[1-9][0-9]{0,9})$' then
           case when j.key::bigint between -2147483648 and 2147483647 then j.key::integer end end as dispensary_id,
       j.metadata ->> 'platform' as platform, j.status, j.priority, j.run_at as scheduled_for, j.worker_id, j.claimed_at, j.started_at,
       j.finished_at as completed_at, j.heartbeat_at as last_heartbeat_at, j.output as result, j.error ->> 'message' as error_message,
       greatest(0, j.attempt - j.spared_attempts - 1) as retry_count, j.max_attempts - 1 as max_retries, j.created_at,
       greatest(j.created_at, j.claimed_at, j.started_at, j.heartbeat_at, j.finished_at) as updated_at, j.args as payload
  from (select a.*, 'pending' as status from leasehold.all_jobs a where a.state in ('pending', 'scheduled', 'waiting', 'blocked')
         union all
        select a.*, 'claimed' from leasehold.all_jobs a where a.state = 'claimed'
         union all
        select a.*, 'running' from leasehold.all_jobs a where a.state = 'running'
         union all
        select a.*, 'completed' from leasehold.all_jobs a where a.state = 'completed'
         union all
        select a.*, 'failed' from leasehold.all_jobs a where a.state in ('failed', 'cancelled') and a.state <> 'completed') j;
comment on view @schema@.worker_tasks is 'leasehold compat: jobs as task workers know them; writing calls the functions of leasehold';

-- What is written to worker_tasks, done by leasehold's own functions. What none of them does is refused, never ignored.
create or replace function @schema@.write_worker_task() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    c_edits   constant text[] := '{priority,scheduled_for,max_retries,payload,platform}';
    v_step    text;
    v_changed text[];
    v_allowed text[];
    v_job     leasehold.all_jobs;
    v_id      bigint;
begin
    if tg_op = 'DELETE' then
        perform leasehold.delete_job(old.id);
        return old;
    end if;
    v_changed := array(select n.key from jsonb_each(to_jsonb(new)) n
                        where n.value is distinct from case when tg_op = 'UPDATE' then to_jsonb(old) -> n.key else 'null' end);
    v_step := case when tg_op = 'INSERT' then 'new' when new.status is distinct from old.status then concat(old.status, '>', new.status) else 'same' end;
    -- What goes with a step: what it changes anyway, and what a retry clears.
    v_allowed := array['status', 'updated_at'] || case
        when v_step = 'new' then c_edits || '{role,dispensary_id,retry_count}'
        when v_step in ('failed>pending', 'claimed>pending', 'running>pending') then
            c_edits || '{retry_count,worker_id,claimed_at,started_at,completed_at,last_heartbeat_at,result,error_message}'
        when v_step = 'pending>claimed' then '{worker_id,claimed_at,last_heartbeat_at}'
        when v_step = 'claimed>running' then '{started_at,last_heartbeat_at}'
        when v_step in ('claimed>completed', 'running>completed') then '{completed_at,result,last_heartbeat_at}'
        when v_step in ('pending>failed', 'claimed>failed', 'running>failed') then '{completed_at,error_message,retry_count,last_heartbeat_at}'
        when v_step = 'same' then c_edits || '{last_heartbeat_at}' end;
    if v_step <> 'new' and v_step like '%>%' and cardinality(v_allowed) = 2 then
        raise exception using errcode = 'LH004', message = format('task %s is %s and cannot be made %s', old.id, old.status, coalesce(new.status, 'null'));
    elsif v_step = 'new' and (coalesce(new.status, 'pending') <> 'pending' or coalesce(new.retry_count, 0) <> 0) then
        raise exception using errcode = 'LH001', message = 'a new task is pending and has no retries behind it';
    elsif tg_op = 'UPDATE' and (new.priority is null or new.max_retries is null or new.payload is null) then
        raise exception using errcode = 'LH001', message = 'worker_tasks: priority, max_retries and payload are never null';
    elsif not v_changed <@ v_allowed then
        raise exception using errcode = 'LH001', message = format(
            'worker_tasks: %s cannot be written here: leasehold fills it, or it never changes',
            array_to_string(array(select c from unnest(v_changed) c where c <> all (v_allowed) order by 1), ', '));
    end if;

    if v_step = 'new' then
        v_id := leasehold.enqueue_job(
            kind => new.role, queue => new.role, key => new.dispensary_id::text, args => coalesce(new.payload, '{}'), run_at => new.scheduled_for,
            priority => coalesce(new.priority, case when new.role in ('entry_point_discovery', 'product_discovery') then 10 end),
            max_attempts => coalesce(new.max_retries, 3) + 1, metadata => nullif(jsonb_strip_nulls(jsonb_build_object('platform', new.platform)), '{}'));
        select * into new from @schema@.worker_tasks t where t.id = v_id;
        return new;
    elsif v_step = 'pending>claimed' then
        -- Which task it is the database decides: the best of the role that may begin.
        select * into new from @schema@.claim_task(old.role, new.worker_id);
        if found then
            return new;
        end if;
        return null;
    end if;
    select * into v_job from leasehold.get_job(old.id);
    -- Where somebody was quicker, the row does not fit any more: it is passed over, as an UPDATE of a table does.
    if v_step = 'failed>pending' then
        begin
            perform leasehold.retry_job(old.id);
        exception when sqlstate 'LH004' then
            return null;
        end;
    elsif v_step in ('claimed>pending', 'running>pending') then
        perform from leasehold.fail_jobs(v_job.incarnation, array[old.id], array[v_job.attempt], array[jsonb_build_object(
            'type', 'TakenBack', 'message', format('taken back from worker %s', v_job.worker_id))], retry_in => array[0.0::double precision]) f
          where f.outcome <> 'refused';
        if not found then
            return null;
        end if;
    elsif v_step like '%>failed' and (v_job.incarnation is null or v_job.incarnation <> md5('task worker ' || v_job.worker_id)::uuid) then
        begin
            perform leasehold.cancel_job(old.id, new.error_message);
        exception when sqlstate 'LH004' then
            return null;
        end;
    elsif v_step like '%>%' or 'last_heartbeat_at' = any (v_changed) then
        perform @schema@.settle_task(v_job, new.status, new.result, new.error_message);
    end if;
    if v_changed && c_edits then
        perform leasehold.edit_job(
            old.id, reason => 'worker_tasks',
            args => case when 'payload' = any (v_changed) then new.payload end, priority => case when 'priority' = any (v_changed) then new.priority end,
            run_at => case when 'scheduled_for' = any (v_changed) then coalesce(new.scheduled_for, leasehold.clock()) end,
            max_attempts => case when 'max_retries' = any (v_changed) then new.max_retries + 1 end,
            metadata => case when 'platform' = any (v_changed) then coalesce(v_job.metadata, '{}') || jsonb_build_object('platform', new.platform) end);
    end if;
    select * into new from @schema@.worker_tasks t where t.id = old.id;
    return new;
end
$$;
comment on function @schema@.write_worker_task() is 'leasehold compat: what is written to worker_tasks';
create or replace trigger write_worker_task instead of insert or update or delete on @schema@.worker_tasks
    for each row execute function @schema@.write_worker_task();
