-- Purpose     Enqueue one job, in the caller's transaction: it exists when that transaction commits, and not otherwise.
-- Parameters  kind: which handler runs it · args: JSON object · queue · priority: higher first · run_at or delay: not
--             before; without an offset, Postgres reads run_at in the time zone of the session
--             key: at most one job of a key is active · max_attempts · idempotency_key: a repeated call
--             with it makes no second job · metadata: JSON object for people and filters
--             notify: wake an idle worker at commit · key_group: what limits count by · timeout: how long one attempt may
--             run · deadline: the job fails then · blockers: chains (ids of their first jobs) that must complete first
--             unique: as claim_unique_jobs · traceparent: W3C trace context of the producer
--             What is null has the default of the kind, where list_kinds tells one; else queue default, priority 0, 20 attempts
--             check_args: false: args are not held against the schema of the kind
--             catalogue: false: fill in nothing from the kind, and take any args
-- Returns     the id of the job (of the earlier one where the idempotency key was used before)
-- Errors      LH001 refused: the message says why · LH006 a unique job is there already
-- Tables      kinds (read), as enqueue_jobs
create or replace function leasehold.enqueue_job(
    kind text, args jsonb default '{}', queue text default null, priority integer default null,
    run_at timestamptz default null, delay interval default null, key text default null, max_attempts integer default null,
    idempotency_key text default null, metadata jsonb default null, notify boolean default true, key_group text default null, timeout interval default null,
    deadline timestamptz default null, blockers bigint[] default null, "unique" jsonb default null, traceparent text default null,
    catalogue boolean default true, check_args boolean default true
) returns bigint language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' as $$
#variable_conflict use_column
declare
    v_now       timestamptz := leasehold.clock();
    v_doubt     boolean; -- whether args have to be looked into
    v_given     jsonb;
    v_key       text;
    v_group     text;
    v_complaint text;
    v_id        bigint;
begin
    if leasehold.is_epoch_over(null) then
        perform leasehold.start_epoch(pg_sequence_last_value('leasehold.epochs_id_seq'));
    end if;
    if enqueue_job.catalogue then
        select k.key is not null or k.key_group is not null
               or enqueue_job.check_args and k.checks_args and leasehold.is_easy(enqueue_job.args, k.easy_args, k.easy_names) is not true,
               k.defaults, k.key, k.key_group into v_doubt, v_given, v_key, v_group
          from leasehold.kinds k where k.kind = enqueue_job.kind;
        if v_doubt then
            select leasehold.refuse_args(k, enqueue_job.args, enqueue_job.key is not null, enqueue_job.key_group is not null, enqueue_job.check_args) into v_complaint
              from leasehold.kinds k where k.kind = enqueue_job.kind;
            if v_complaint is not null then
                raise exception using errcode = 'LH001', message = v_complaint, hint = 'nothing was enqueued; check_args => false takes any args';
            end if;
            enqueue_job.key := coalesce(enqueue_job.key, leasehold.derive_key(enqueue_job.args, v_key));
            enqueue_job.key_group := coalesce(enqueue_job.key_group, leasehold.derive_key(enqueue_job.args, v_group));
        end if;
        if v_given <> '{}' then
            enqueue_job.queue := coalesce(enqueue_job.queue, v_given ->> 'queue');
            enqueue_job.priority := coalesce(enqueue_job.priority, (v_given ->> 'priority')::integer);
            enqueue_job.max_attempts := coalesce(enqueue_job.max_attempts, (v_given ->> 'max_attempts')::integer);
            enqueue_job.unique := coalesce(nullif(enqueue_job.unique, 'null'), v_given -> 'unique');
            enqueue_job.deadline := coalesce(enqueue_job.deadline, v_now + (v_given ->> 'deadline')::interval);
        end if;
    end if;
    enqueue_job.queue := coalesce(enqueue_job.queue, 'default');
    -- A plain job, as in enqueue_jobs, needs no JSON on its way.
    if coalesce(enqueue_job.key, enqueue_job.idempotency_key) is null and enqueue_job.blockers is null and enqueue_job.unique is null
       and enqueue_job.run_at is null and enqueue_job.delay is null and enqueue_job.timeout is null and enqueue_job.deadline is null
       and leasehold.refuse_job(enqueue_job.kind, nullif(enqueue_job.args, 'null'), enqueue_job.queue, null, enqueue_job.max_attempts, null,
                                nullif(enqueue_job.metadata, 'null'), null, null, enqueue_job.key_group, null, null,
                                enqueue_job.traceparent, null) is null
    then
        insert into leasehold.jobs (created_at, run_at, state, priority, max_attempts, kind, queue, key_group, traceparent, args, metadata)
        values (v_now, v_now, 'pending', coalesce(enqueue_job.priority, 0), coalesce(enqueue_job.max_attempts, leasehold.default_attempts()), enqueue_job.kind,
                enqueue_job.queue, enqueue_job.key_group, enqueue_job.traceparent, coalesce(nullif(enqueue_job.args, 'null'), '{}'),
                nullif(enqueue_job.metadata, 'null'))
        returning id into v_id;
        if enqueue_job.notify then
            perform leasehold.wake_idle_workers(array[enqueue_job.queue]);
        end if;
        return v_id;
    end if;
    return (select a.job_id
              from leasehold.add_jobs(jsonb_build_array(jsonb_build_object(
                       'kind', enqueue_job.kind, 'args', enqueue_job.args, 'queue', enqueue_job.queue, 'priority', enqueue_job.priority,
                       'run_at', enqueue_job.run_at, 'delay', extract(epoch from enqueue_job.delay), 'key', enqueue_job.key,
                       'max_attempts', enqueue_job.max_attempts, 'idempotency_key', enqueue_job.idempotency_key,
                       'metadata', enqueue_job.metadata, 'key_group', enqueue_job.key_group,
                       'timeout', extract(epoch from enqueue_job.timeout), 'deadline', enqueue_job.deadline,
                       'blockers', enqueue_job.blockers, 'unique', enqueue_job.unique, 'traceparent', enqueue_job.traceparent)),
                       null, null, null, null, enqueue_job.notify) a);
end
$$;
