-- Purpose     Make a whole job of a row that somebody inserts into jobs by hand, with kind and args and little else: the trigger
--             plain_job, which looks only at rows without a state. enqueue_jobs gives one to each row and never comes here.
-- Parameters  none; the row may have kind, args, queue, key, key_group, priority, run_at, max_attempts, timeout, deadline,
--             traceparent and metadata. What it does not say has the default of its kind, where list_kinds tells one
-- Returns     the row as it is to be: pending; scheduled, where its run_at is yet to come; waiting behind other jobs of its key. No row
--             where the kind is unique and another job stands for this one
-- Errors      LH001 the row is no job that could be enqueued: the message says why · LH006 a unique job is there already
-- Tables      kinds (read), jobs (read, for a row with a key), as claim_unique_jobs and apply_unique_jobs where the kind is unique,
--             as start_epoch; leaves the queue to wake_plain_jobs
create or replace function leasehold.make_plain_job() returns trigger language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
declare
    v_now       timestamptz := leasehold.clock();
    v_given     text[];
    v_complaint text;
    v_kind      leasehold.kinds;
    v_doc       jsonb;
    v_other     record;
    v_queues    text;
begin
    if new.state is not null then -- no row for a producer to make; it says nothing of these two
        new.priority := coalesce(new.priority, 0);
        new.max_attempts := coalesce(new.max_attempts, leasehold.default_attempts());
        return new;
    end if;
    -- An id that was not drawn just now may be that of a finished job.
    begin
        v_given := case when new.id <> currval('leasehold.jobs_id_seq') then '{id}'::text[] end;
    exception when object_not_in_prerequisite_state then
        v_given := '{id}';
    end;
    if leasehold.is_epoch_over(null) then
        perform leasehold.start_epoch(pg_sequence_last_value('leasehold.epochs_id_seq'));
        new.id := greatest(new.id, case when (select s.last_value from leasehold.jobs_id_seq s) > new.id then nextval('leasehold.jobs_id_seq') end);
    end if;
    new.args := coalesce(new.args, '{}');
    select * into v_kind from leasehold.kinds k where k.kind = new.kind;
    v_complaint := case when v_kind.kind is not null then leasehold.refuse_args(v_kind, new.args, new.key is not null, new.key_group is not null) end;
    new.key := coalesce(new.key, leasehold.derive_key(new.args, v_kind.key));
    new.key_group := coalesce(new.key_group, leasehold.derive_key(new.args, v_kind.key_group));
    new.queue := coalesce(new.queue, v_kind.defaults ->> 'queue', 'default');
    new.priority := coalesce(new.priority, (v_kind.defaults ->> 'priority')::integer, 0);
    new.max_attempts := coalesce(new.max_attempts, (v_kind.defaults ->> 'max_attempts')::integer, leasehold.default_attempts());
    new.deadline := coalesce(new.deadline, v_now + (v_kind.defaults ->> 'deadline')::interval);
    v_given := v_given || array(
        select f.key from jsonb_each(to_jsonb(new) - '{id,run_at,kind,args,queue,key,key_group,priority,max_attempts,timeout,deadline,traceparent,metadata}'::text[]) f
         where f.value <> case when f.key in ('attempt', 'spared_attempts') then '0' else 'null' end::jsonb order by 1);
    v_complaint := case when v_given <> '{}' then array_to_string(v_given, ', ') || ' must be left out: leasehold fills it'
                        when v_complaint is not null then v_complaint
                        else leasehold.refuse_job(new.kind, new.args, new.queue, new.key, new.max_attempts, null, new.metadata, null, new.run_at,
                                                  new.key_group, new.timeout, new.deadline, new.traceparent, null) end;
    if v_complaint is not null then
        raise exception using errcode = 'LH001', message = v_complaint, hint = 'insert into leasehold.jobs (kind, args) values (''echo'', ''{}'')';
    end if;

    if v_kind.defaults ? 'unique' then
        v_doc := jsonb_build_array(jsonb_strip_nulls(jsonb_build_object('kind', new.kind, 'queue', new.queue, 'key', new.key, 'key_group', new.key_group,
                     'priority', new.priority, 'run_at', new.run_at)) || jsonb_build_object('args', new.args, 'metadata', new.metadata, 'unique', v_kind.defaults -> 'unique'));
        select * into v_other from leasehold.claim_unique_jobs(v_doc, array[new.id], '{true}');
        if not v_other.is_new then
            perform leasehold.apply_unique_jobs(v_doc, array[v_other.job_id], array[v_other.on_conflict], true);
            return null;
        end if;
    end if;
    new.created_at := v_now;
    new.run_at := greatest(v_now, new.run_at);
    new.state := case when new.run_at > v_now then 'scheduled'
                      when new.key is null then 'pending'
                      when (select o.id from leasehold.jobs o where o.key = new.key and o.queue = new.queue and o.kind = new.kind
                                and o.state in ('pending', 'waiting') limit 1) is not null
                      then 'waiting'
                      when (select h.id from leasehold.jobs h where h.key = new.key and h.incarnation is not null limit 1) is not null
                      then 'waiting'
                      else 'pending' end;
    new.limited := false;  -- so that wake_plain_jobs is called for this row, and for no row of enqueue_jobs
    if new.state <> 'waiting' and new.run_at < v_now + interval '2 minutes' then
        v_queues := coalesce(current_setting('leasehold.filled_queues', true), '');
        if new.queue = any (string_to_array(v_queues, ',')) is not true then
            perform set_config('leasehold.filled_queues', concat_ws(',', nullif(v_queues, ''), new.queue), true);
        end if;
    end if;
    return new;
end
$$;
