-- Purpose     Enqueue any number of jobs in one statement, all or none, in the caller's transaction.
-- Parameters  jobs: JSON array of objects with kind (required), args, queue, priority, run_at, delay (seconds), key,
--                   max_attempts, idempotency_key, metadata
--             notify: wake an idle worker at commit; a client that rings the doorbell itself after commit passes false
-- Returns     job_id and is_new for each, in the order given; an idempotency key that was used before answers with the
--             job it made then, and is_new = false
-- Errors      LH001 a job is refused: the message says which one and why
-- Tables      idempotency_keys (insert, in key order), jobs (insert), workers (read)
-- Callers     clients, enqueue_job
create or replace function leasehold.enqueue_jobs(jobs jsonb, notify boolean default true)
returns table (job_id bigint, is_new boolean) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    c_no_name   constant jsonpath := '$ ? ((@.kind.type() != "string" && @.kind.type() != "null")
                                        || (@.queue.type() != "string" && @.queue.type() != "null")
                                        || (@.key.type() != "string" && @.key.type() != "null")
                                        || (@.idempotency_key.type() != "string" && @.idempotency_key.type() != "null"))';
    v_now       timestamptz := leasehold.clock();
    v_complaint text;
    v_ids       bigint[];
    v_new       boolean[];
    v_queues    text[];
begin
    if jsonb_typeof(enqueue_jobs.jobs) is distinct from 'array' then
        raise exception using errcode = 'LH001', message = 'jobs must be a JSON array of objects',
            hint = 'select leasehold.enqueue_jobs(''[{"kind": "echo"}]'')';
    end if;

    select 'job ' || bad.position || ': ' || bad.complaint into v_complaint
      from (select w.position,
                   case when jsonb_typeof(w.doc) <> 'object' then 'is no JSON object'
                        when w.doc - '{kind,args,queue,priority,run_at,delay,key,max_attempts,idempotency_key,metadata}'::text[] <> '{}'
                        then leasehold.refuse_job('-', null, null, null, null, null, null, null, null,
                             (select min(f) from jsonb_object_keys(w.doc) f where f <> all ('{kind,args,queue,priority,run_at,delay,key,max_attempts,idempotency_key,metadata}')))
                        when w.doc @? c_no_name
                        then (select min(f.key || ' must be a string, not ' || jsonb_typeof(f.value)) from jsonb_each(w.doc) f
                               where f.key in ('kind', 'queue', 'key', 'idempotency_key') and jsonb_typeof(f.value) not in ('string', 'null'))
                   end as complaint
              from jsonb_array_elements(enqueue_jobs.jobs) with ordinality w(doc, position)) bad
     where bad.complaint is not null
     order by bad.position limit 1;
    if v_complaint is null then
        select 'job ' || bad.position || ': ' || bad.complaint into v_complaint
          from (select w.position, leasehold.refuse_job(w.kind, nullif(w.args, 'null'), w.queue, w.key, w.max_attempts, w.idempotency_key,
                                                        nullif(w.metadata, 'null'), w.delay, w.run_at, null) as complaint
                  from rows from (jsonb_to_recordset(enqueue_jobs.jobs) as (
                           kind text, args jsonb, queue text, key text, max_attempts integer, idempotency_key text,
                           metadata jsonb, delay double precision, run_at timestamptz)) with ordinality
                       as w(kind, args, queue, key, max_attempts, idempotency_key, metadata, delay, run_at, position)) bad
         where bad.complaint is not null
         order by bad.position limit 1;
    end if;
    if v_complaint is not null then
        raise exception using errcode = 'LH001', message = v_complaint, hint = 'nothing was enqueued';
    end if;

    select array_agg(nextval('leasehold.jobs_id_seq') order by position), array_agg(true) into v_ids, v_new
      from generate_series(1, jsonb_array_length(enqueue_jobs.jobs)) position;

    if jsonb_path_exists(enqueue_jobs.jobs, '$[*].idempotency_key ? (@ != null)') then
        insert into leasehold.idempotency_keys (idempotency_key, job_id, created_at)
        select distinct on (w.doc ->> 'idempotency_key') w.doc ->> 'idempotency_key', v_ids[w.position], v_now
          from jsonb_array_elements(enqueue_jobs.jobs) with ordinality w(doc, position)
         where w.doc ->> 'idempotency_key' is not null
         order by w.doc ->> 'idempotency_key', w.position
        on conflict do nothing;

        select array_agg(coalesce(k.job_id, v_ids[k.position]) order by k.position),
               array_agg(coalesce(k.job_id = v_ids[k.position], true) order by k.position)
          into v_ids, v_new
          from (select w.position, (select u.job_id from leasehold.idempotency_keys u
                                     where u.idempotency_key = w.doc ->> 'idempotency_key') as job_id
                  from jsonb_array_elements(enqueue_jobs.jobs) with ordinality w(doc, position)) k;
    end if;

    with wanted as materialized (
        select v_ids[w.position] as id, coalesce(w.priority, 0) as priority, w.kind, coalesce(w.queue, 'default') as queue, w.key,
               coalesce(w.max_attempts, 20) as max_attempts, coalesce(nullif(w.args, 'null'), '{}') as args,
               nullif(w.metadata, 'null') as metadata,
               greatest(v_now, coalesce(w.run_at, v_now + make_interval(secs => w.delay))) as run_at,
               w.key is not null and row_number() over (partition by w.key, coalesce(w.queue, 'default'), w.kind, coalesce(w.run_at > v_now, false) or coalesce(w.delay > 0, false)
                                                         order by coalesce(w.priority, 0) desc, w.position) > 1 as is_follower
          from rows from (jsonb_to_recordset(enqueue_jobs.jobs) as (
                   kind text, args jsonb, queue text, key text, max_attempts integer, metadata jsonb,
                   delay double precision, run_at timestamptz, priority integer)) with ordinality
               as w(kind, args, queue, key, max_attempts, metadata, delay, run_at, priority, position)
         where v_new[w.position]
    ), made as (
        insert into leasehold.jobs (id, created_at, run_at, priority, max_attempts, state, kind, queue, key, args, metadata)
        select w.id, v_now, w.run_at, w.priority, w.max_attempts,
               case when w.run_at > v_now then 'scheduled'
                    when w.key is null then 'pending'
                    when w.is_follower then 'waiting'
                    when (select o.id from leasehold.jobs o where o.key = w.key and o.queue = w.queue and o.kind = w.kind
                              and o.state in ('pending', 'waiting') limit 1) is not null
                    then 'waiting'
                    when (select h.id from leasehold.jobs h where h.key = w.key and h.incarnation is not null limit 1) is not null
                    then 'waiting'
                    else 'pending' end,
               w.kind, w.queue, w.key, w.args, w.metadata
          from wanted w
        returning queue, state, run_at
    )
    select array_agg(distinct m.queue) into v_queues
      from made m
     where m.state = 'pending' or (m.state = 'scheduled' and m.run_at < v_now + interval '2 minutes');

    if enqueue_jobs.notify and v_queues is not null then
        perform leasehold.wake_idle_workers(v_queues);
    end if;
    return query select * from unnest(v_ids, v_new);
end
$$;
