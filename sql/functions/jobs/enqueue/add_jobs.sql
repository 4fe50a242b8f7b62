-- Purpose     Write new jobs. This is the common part of enqueue_jobs, for producers, and of completions that
--             continue a chain.
-- Parameters  jobs: as enqueue_jobs · ids: of the jobs, where the caller has drawn them already, else null
--             chain_ids, chain_positions: for each the chain it continues and its place there, 0 for none; or null
--             bases: for each how many jobs of the array come before the list that its {"position": n} counts in; or null
--             notify: as enqueue_jobs
-- Returns     as enqueue_jobs
-- Errors      LH001 a job is refused: the message says which one and why · LH006 a unique job is there already
--             LH007 an idempotency key was used with another fingerprint
-- Tables      idempotency_keys (insert, in key order), unique_jobs as claim_unique_jobs, job_blockers as add_blockers,
--             jobs (insert), as apply_unique_jobs, workers (read), as start_epoch
create or replace function leasehold.add_jobs(
    jobs jsonb, ids bigint[], chain_ids bigint[], chain_positions integer[], bases integer[], notify boolean
) returns table (job_id bigint, is_new boolean, outcome text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    c_no_name   constant jsonpath := '$ ? ((@.kind.type() != "string" && @.kind.type() != "null")
                                        || (@.queue.type() != "string" && @.queue.type() != "null")
                                        || (@.key.type() != "string" && @.key.type() != "null")
                                        || (@.key_group.type() != "string" && @.key_group.type() != "null")
                                        || (@.traceparent.type() != "string" && @.traceparent.type() != "null")
                                        || (@.idempotency_key.type() != "string" && @.idempotency_key.type() != "null")
                                        || (@.fingerprint.type() != "string" && @.fingerprint.type() != "null"))';
    c_fields    constant text[] :=
        '{kind,args,queue,priority,run_at,delay,key,key_group,max_attempts,timeout,deadline,idempotency_key,fingerprint,unique,blockers,traceparent,
         metadata,check_args}';
    v_now       timestamptz := leasehold.clock();
    v_complaint text;
    v_other     record;
    v_ids       bigint[];
    v_new       boolean[];
    v_parts     integer[];
    v_blocked   bigint[];
    v_queues    text[];
    v_conflicts text[];
    v_outcomes  text[];
begin
    if jsonb_typeof(add_jobs.jobs) is distinct from 'array' then
        raise exception using errcode = 'LH001', message = 'jobs must be a JSON array of objects',
            hint = 'select leasehold.enqueue_jobs(''[{"kind": "echo"}]'')';
    end if;

    select leasehold.name_job(add_jobs.jobs, bad.position) || bad.complaint into v_complaint
      from (select w.position,
                   case when jsonb_typeof(w.doc) <> 'object' then case jsonb_array_length(add_jobs.jobs) when 1 then 'a job must be a JSON object' else 'is no JSON object' end
                        when w.doc - c_fields <> '{}'
                        then leasehold.refuse_job('-', null, null, null, null, null, null, null, null, null, null, null, null,
                             (select min(f) from jsonb_object_keys(w.doc) f where f <> all (c_fields)))
                        when w.doc @? c_no_name
                        then (select min(f.key || ' must be a string, not ' || jsonb_typeof(f.value)) from jsonb_each(w.doc) f
                               where f.key in ('kind', 'queue', 'key', 'key_group', 'traceparent', 'idempotency_key', 'fingerprint')
                                 and jsonb_typeof(f.value) not in ('string', 'null'))
                        when coalesce(jsonb_typeof(w.doc -> 'check_args'), 'null') not in ('boolean', 'null')
                        then 'check_args must be true or false, not ' || jsonb_typeof(w.doc -> 'check_args')
                   end as complaint
              from jsonb_array_elements(add_jobs.jobs) with ordinality w(doc, position)) bad
     where bad.complaint is not null
     order by bad.position limit 1;
    if v_complaint is null then
        begin
            select leasehold.name_job(add_jobs.jobs, bad.position) || bad.complaint into v_complaint
              from (select w.position, leasehold.refuse_job(w.kind, nullif(w.args, 'null'), w.queue, w.key, w.max_attempts, w.idempotency_key,
                                                            nullif(w.metadata, 'null'), w.delay, w.run_at, w.key_group, w.timeout,
                                                            case when w.deadline like 'P%' then v_now + w.deadline::interval else w.deadline::timestamptz end,
                                                            w.traceparent, null) as complaint
                      from rows from (jsonb_to_recordset(add_jobs.jobs) as (
                               kind text, args jsonb, queue text, key text, max_attempts integer, priority integer, idempotency_key text,
                               metadata jsonb, delay double precision, run_at timestamptz, key_group text, timeout double precision,
                               deadline text, traceparent text)) with ordinality
                           as w(kind, args, queue, key, max_attempts, priority, idempotency_key, metadata, delay, run_at, key_group, timeout,
                                deadline, traceparent, position)) bad
             where bad.complaint is not null
             order by bad.position limit 1;
        exception when data_exception then
            v_complaint := leasehold.name_unreadable_field(add_jobs.jobs);
            if v_complaint is null then
                raise;
            end if;
        end;
    end if;
    if v_complaint is not null then
        raise exception using errcode = 'LH001', message = v_complaint, hint = 'nothing was enqueued';
    end if;

    if leasehold.is_epoch_over(null) then
        perform leasehold.start_epoch(pg_sequence_last_value('leasehold.epochs_id_seq'));
    end if;
    v_ids := coalesce(add_jobs.ids, array(select nextval('leasehold.jobs_id_seq') from generate_series(1, jsonb_array_length(add_jobs.jobs))));
    v_new := array_fill(true, array[jsonb_array_length(add_jobs.jobs)]);

    if jsonb_path_exists(add_jobs.jobs, '$[*].idempotency_key ? (@ != null)') then
        v_parts := array(select case when w.doc ->> 'fingerprint' is null then 0
                                     else row_number() over (partition by w.doc ->> 'idempotency_key', w.doc ->> 'fingerprint' order by w.position) end
                           from jsonb_array_elements(add_jobs.jobs) with ordinality w(doc, position) order by w.position);

        insert into leasehold.idempotency_keys (idempotency_key, part, job_id, created_at, fingerprint)
        select distinct on (w.doc ->> 'idempotency_key', v_parts[w.position])
               w.doc ->> 'idempotency_key', v_parts[w.position], v_ids[w.position], v_now, w.doc ->> 'fingerprint'
          from jsonb_array_elements(add_jobs.jobs) with ordinality w(doc, position)
         where w.doc ->> 'idempotency_key' is not null
         order by w.doc ->> 'idempotency_key', v_parts[w.position], w.position
        on conflict do nothing;

        select array_agg(coalesce(k.job_id, v_ids[k.position]) order by k.position),
               array_agg(coalesce(k.job_id = v_ids[k.position], true) order by k.position)
          into v_ids, v_new
          from (select w.position, (select u.job_id from leasehold.idempotency_keys u
                                     where u.idempotency_key = w.doc ->> 'idempotency_key' and u.part = v_parts[w.position]) as job_id
                  from jsonb_array_elements(add_jobs.jobs) with ordinality w(doc, position)) k;

        -- Looked at after the insert, which has waited for whoever was using the same key just now.
        if jsonb_path_exists(add_jobs.jobs, '$[*].fingerprint ? (@ != null)') then
            select f.position, f.idempotency_key into v_other
              from (select w.position, w.doc ->> 'idempotency_key' as idempotency_key, w.doc ->> 'fingerprint' as fingerprint
                      from jsonb_array_elements(add_jobs.jobs) with ordinality w(doc, position)) f
             where f.fingerprint <> (select u.fingerprint from leasehold.idempotency_keys u where u.idempotency_key = f.idempotency_key and u.part = 1)
             order by f.position limit 1;
            if found then
                raise exception using errcode = 'LH007', hint = 'nothing was enqueued', message = leasehold.name_job(add_jobs.jobs, v_other.position)
                    || format('idempotency_key %L was used before for another request', v_other.idempotency_key);
            end if;
        end if;
    end if;

    if jsonb_path_exists(add_jobs.jobs, '$[*].unique.type() ? (@ != "null")') then
        select array_agg(u.job_id order by u.position), array_agg(u.is_new order by u.position), array_agg(u.on_conflict order by u.position)
          into v_ids, v_new, v_conflicts
          from leasehold.claim_unique_jobs(add_jobs.jobs, v_ids, v_new) u;
    end if;

    if jsonb_path_exists(add_jobs.jobs, '$[*].blockers.type() ? (@ != "null")') then
        v_blocked := leasehold.add_blockers(add_jobs.jobs, v_ids, v_new, add_jobs.bases, 0, add_jobs.chain_ids);
    end if;

    with wanted as materialized (
        select v_ids[w.position] as id, coalesce(w.priority, 0) as priority, w.kind, coalesce(w.queue, 'default') as queue, w.key,
               coalesce(w.max_attempts, leasehold.default_attempts()) as max_attempts, coalesce(nullif(w.args, 'null'), '{}') as args,
               nullif(w.metadata, 'null') as metadata,
               greatest(v_now, coalesce(w.run_at, v_now + make_interval(secs => w.delay))) as run_at,
               nullif(add_jobs.chain_ids[w.position], 0) as chain_id,
               nullif(add_jobs.chain_positions[w.position], 0) as chain_position, w.key_group, w.timeout,
               case when w.deadline like 'P%' then v_now + w.deadline::interval else w.deadline::timestamptz end as deadline,
               w.traceparent, v_blocked is not null and v_ids[w.position] in (select unnest(v_blocked)) as is_blocked,
               w.key is not null and row_number() over (partition by w.key, coalesce(w.queue, 'default'), w.kind, coalesce(w.run_at > v_now, false) or coalesce(w.delay > 0, false),
                                                                      v_blocked is not null and v_ids[w.position] in (select unnest(v_blocked))
                                                         order by coalesce(w.priority, 0) desc, w.position) > 1 as is_follower
          from rows from (jsonb_to_recordset(add_jobs.jobs) as (
                   kind text, args jsonb, queue text, key text, max_attempts integer, metadata jsonb,
                   delay double precision, run_at timestamptz, priority integer, key_group text, timeout double precision,
                   deadline text, traceparent text)) with ordinality
               as w(kind, args, queue, key, max_attempts, metadata, delay, run_at, priority, key_group, timeout, deadline, traceparent,
                    position)
         where v_new[w.position]
    ), made as (
        insert into leasehold.jobs (id, created_at, run_at, priority, max_attempts, chain_id, chain_position, key_group, timeout,
               deadline, traceparent, kind, queue, key, args, metadata, state)
        select w.id, v_now, w.run_at, w.priority, w.max_attempts, w.chain_id, w.chain_position, w.key_group, w.timeout,
               w.deadline, w.traceparent, w.kind, w.queue, w.key, w.args, w.metadata,
               case when w.is_blocked then 'blocked'
                    when w.run_at > v_now then 'scheduled'
                    when w.key is null then 'pending'
                    when w.is_follower then 'waiting'
                    when (select o.id from leasehold.jobs o where o.key = w.key and o.queue = w.queue and o.kind = w.kind
                              and o.state in ('pending', 'waiting') limit 1) is not null
                    then 'waiting'
                    when (select h.id from leasehold.jobs h where h.key = w.key and h.incarnation is not null limit 1) is not null
                    then 'waiting'
                    else 'pending' end
          from wanted w
        returning queue, state, run_at
    )
    select array_agg(distinct m.queue) into v_queues
      from made m
     where m.state = 'pending' or (m.state = 'scheduled' and m.run_at < v_now + interval '2 minutes');

    if add_jobs.notify and v_queues is not null then
        perform leasehold.wake_idle_workers(v_queues);
    end if;
    if v_conflicts && '{replace,extend,overwrite}' then
        v_outcomes := leasehold.apply_unique_jobs(add_jobs.jobs, v_ids, v_conflicts, add_jobs.notify);
    end if;
    return query select a.id, a.is_new, coalesce(a.outcome, case when a.is_new then 'created' else 'existing' end)
                   from unnest(v_ids, v_new, v_outcomes) a(id, is_new, outcome);
end
$$;
