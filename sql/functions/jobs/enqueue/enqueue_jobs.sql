-- Purpose     Enqueue any number of jobs in one statement, all or none, in the caller's transaction.
-- Parameters  jobs: JSON array of objects with kind (required), args, queue, priority, run_at, delay (seconds), key,
--                   key_group, max_attempts, timeout (seconds an attempt may run), deadline (fail it then: a time, or an
--                   ISO 8601 duration from now, such as PT5M; P1D is 86400 s; a time without an offset is in UTC), metadata,
--                   idempotency_key: a repeated call with it makes no second job, whatever else it says,
--                   fingerprint: text that stands for a whole request. With it idempotency_key is the key of the request: the
--                   first, second, … job that has both is found again as such, another fingerprint with the key is refused,
--                   and keys without fingerprint are others,
--                   unique (see claim_unique_jobs), traceparent, and blockers: an array of the chains that
--                   must complete first, each the id of a chain's first job, or {"position": n} for an earlier job of this array, or
--                   {"chain": id}; with "until": "ended" in the object any end of the chain will do
--             check_args: false: the args of this job are not held against the schema of its kind
--             A field that is missing or null has the default of the kind, where list_kinds tells one, else that of the database.
--             notify: wake an idle worker at commit; a client that rings the doorbell itself after commit passes false
--             catalogue: false: fill in nothing and check no args; the caller has done so, or does not want it
-- Returns     for each, in the order given, job_id, is_new, and the outcome: created; existing, where an idempotency key was
--             used before or a unique job is there already, and job_id is that one's; or what on_conflict made of that one:
--             replaced, extended, overwritten
-- Errors      LH001 a job is refused: the message says which one and why · LH006 a unique job is there already
--             LH007 an idempotency key was used with another fingerprint
-- Tables      kinds (read), jobs (insert; read for the keys of new jobs), workers (read), as start_epoch, enqueue_once; else as add_jobs
create or replace function leasehold.enqueue_jobs(jobs jsonb, notify boolean default true, catalogue boolean default true)
returns table (job_id bigint, is_new boolean, outcome text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_now   timestamptz := leasehold.clock();
    v_ids   bigint[];
    v_done  boolean := false;
    v_hard  boolean;
    v_easy  jsonpath; -- with v_names: what args of all jobs must fit
    v_names text[];
    v_given jsonb;    -- what the one kind gives, and the jobs do not have yet
begin
    if leasehold.is_epoch_over(null) then
        perform leasehold.start_epoch(pg_sequence_last_value('leasehold.epochs_id_seq'));
    end if;
    -- What the kinds say. Where all jobs have one kind, the plain way below checks and fills them as it inserts, unless that kind is hard:
    -- gives more than constants, or has a schema that is not flat. Of lists with several kinds, and of hard kinds, jobs are filled in here.
    -- One index look, and no join, for the first: a look for each job costs 1 µs of it. docs/decisions/0062-plain-jobs-of-a-kind.md
    if enqueue_jobs.catalogue and jsonb_typeof(enqueue_jobs.jobs) = 'array' then
        if jsonb_typeof(enqueue_jobs.jobs #> '{0,kind}') = 'string'
           and not jsonb_path_exists(enqueue_jobs.jobs, '$[*].kind ? (@ != $first)', jsonb_build_object('first', enqueue_jobs.jobs #> '{0,kind}')) then
            select case when k.checks_args then k.easy_args end, k.easy_names, k.defaults,
                   k.key is not null or k.key_group is not null or k.defaults ?| '{unique,deadline}' or k.checks_args and k.easy_args is null
              into v_easy, v_names, v_given, v_hard
              from leasehold.kinds k where k.kind = enqueue_jobs.jobs #>> '{0,kind}' and (k.fills or k.checks_args);
        else
            v_hard := exists (select from jsonb_array_elements(enqueue_jobs.jobs) w(doc) join leasehold.kinds k on k.kind = w.doc ->> 'kind'
                               where k.fills or k.checks_args and leasehold.is_easy(w.doc -> 'args', k.easy_args, k.easy_names) is not true);
        end if;
        if v_hard then
            enqueue_jobs.jobs := leasehold.fill_jobs(enqueue_jobs.jobs);
            v_easy := null;
            v_given := null;
        end if;
    end if;
    -- Three ways for jobs that need no conversion, each one statement, all or none, from the cheapest to the most able. None of
    -- them refuses: all else goes to add_jobs, which converts it or says what is wrong. docs/decisions/0024-plain-jobs.md
    -- Constants stand where they are used: plpgsql reads those that are declared at each call.
    if jsonb_typeof(enqueue_jobs.jobs) = 'array' and not enqueue_jobs.jobs -> 0 ?| '{run_at,delay,key,deadline,idempotency_key,fingerprint,unique,blockers}' then
        return query
        insert into leasehold.jobs (created_at, run_at, priority, max_attempts, kind, queue, key_group, timeout, traceparent, args, metadata, state)
        select v_now, v_now, coalesce((w.doc -> 'priority')::integer, (v_given -> 'priority')::integer, 0),
               coalesce((w.doc -> 'max_attempts')::integer, (v_given -> 'max_attempts')::integer, leasehold.default_attempts()),
               w.doc ->> 'kind', coalesce(w.doc ->> 'queue', v_given ->> 'queue', 'default'), w.doc ->> 'key_group', (w.doc -> 'timeout')::double precision,
               w.doc ->> 'traceparent', coalesce(w.doc -> 'args', '{}'), w.doc -> 'metadata', 'pending'
          from jsonb_array_elements(enqueue_jobs.jobs) w(doc)
         where not exists (
               select from jsonb_array_elements(enqueue_jobs.jobs) c(doc)
                where case when jsonb_typeof(c.doc) = 'object' then
                           jsonb_typeof(c.doc -> 'kind') = 'string' and c.doc ->> 'kind' ~ '^[^[:cntrl:]]+$' and octet_length(c.doc ->> 'kind') <= 200
                       and (v_easy is null or leasehold.is_easy(c.doc -> 'args', v_easy, v_names))
                       and coalesce(jsonb_typeof(c.doc -> 'queue') = 'string' and c.doc ->> 'queue' !~ '[[:cntrl:],]|^ | $|^$'
                                    and octet_length(c.doc ->> 'queue') <= 200, true)
                       and coalesce(jsonb_typeof(c.doc -> 'args') = 'object', true) and pg_column_size(c.doc) <= 65536
                       and (c.doc - '{kind,queue,args}'::text[] = '{}'
                            or c.doc - '{kind,queue,args,priority,max_attempts,key_group,timeout,traceparent,metadata}'::text[] = '{}'
                               and c.doc @@ '
                                   (!exists($.priority) || $.priority.type() == "number" && $.priority > -1000000 && $.priority < 1000000)
                                && (!exists($.max_attempts) || $.max_attempts.type() == "number" && $.max_attempts >= 1 && $.max_attempts < 1000000)
                                && (!exists($.timeout) || $.timeout.type() == "number" && $.timeout > 0.001 && $.timeout < 1000000000)
                                && (!exists($.key_group) || $.key_group.type() == "string" && $.key_group != "*" && $.key_group != "")
                                && (!exists($.traceparent) || $.traceparent.type() == "string")
                                && (!exists($.metadata) || $.metadata.type() == "object")'
                               and concat(c.doc -> 'priority', c.doc -> 'max_attempts') !~ '[.]'
                               and octet_length(concat(c.doc ->> 'key_group', c.doc ->> 'traceparent')) <= 200)
                       end is not true)
        returning id, true, 'created';
        if found then
            if enqueue_jobs.notify then
                if jsonb_array_length(enqueue_jobs.jobs) = 1 or not enqueue_jobs.jobs @? '$[*].queue' then
                    perform leasehold.wake_idle_workers(array[coalesce(enqueue_jobs.jobs #>> '{0,queue}', v_given ->> 'queue', 'default')]);
                else
                    perform leasehold.wake_idle_workers(array(
                        select distinct coalesce(w.doc ->> 'queue', v_given ->> 'queue', 'default') from jsonb_array_elements(enqueue_jobs.jobs) w(doc)));
                end if;
            end if;
            return;
        end if;
    end if;
    if v_given is not null then -- not all of them are plain, or fit plainly
        enqueue_jobs.jobs := leasehold.fill_jobs(enqueue_jobs.jobs);
    end if;
    if jsonb_typeof(enqueue_jobs.jobs) = 'array' then
        if not enqueue_jobs.jobs @? '$[*].idempotency_key' then
            return query
            with job as materialized (
                select * from leasehold.read_simple_jobs(enqueue_jobs.jobs, v_now)
            ), follower as (
                select f.place
                  from (select j.place, row_number() over (partition by j.key, j.queue, j.kind order by j.priority desc, j.place) as rank
                          from job j where j.key is not null and j.run_at = v_now) f
                 where f.rank > 1
            )
            insert into leasehold.jobs (created_at, run_at, priority, max_attempts, kind, queue, key, key_group, timeout, traceparent, args, metadata, state)
            select v_now, j.run_at, j.priority, j.max_attempts, j.kind, j.queue, j.key, j.key_group, j.timeout, j.traceparent, j.args, j.metadata,
                   case when j.run_at > v_now then 'scheduled'
                        when j.key is null then 'pending'
                        when j.place in (select f.place from follower f) then 'waiting'
                        when (select o.id from leasehold.jobs o where o.key = j.key and o.queue = j.queue and o.kind = j.kind
                                  and o.state in ('pending', 'waiting') limit 1) is not null
                        then 'waiting'
                        when (select h.id from leasehold.jobs h where h.key = j.key and h.incarnation is not null limit 1) is not null
                        then 'waiting'
                        else 'pending' end
              from job j
             where (select count(*) from job) = jsonb_array_length(enqueue_jobs.jobs)
            returning id, true, 'created';
            v_done := found;
        elsif not enqueue_jobs.jobs @? '$[*] ? (exists(@.fingerprint) || exists(@.unique) || exists(@.blockers) || exists(@.deadline) || exists(@.key))' then
            v_ids := array(select nextval('leasehold.jobs_id_seq') from generate_series(1, jsonb_array_length(enqueue_jobs.jobs)));
            return query select * from leasehold.enqueue_once(enqueue_jobs.jobs, v_ids, v_now);
            v_done := found;
        end if;
        if v_done then
            if enqueue_jobs.notify then
                perform leasehold.wake_idle_workers(array(
                    select distinct coalesce(w.doc ->> 'queue', 'default') from jsonb_array_elements(enqueue_jobs.jobs) w(doc)
                     where not coalesce((w.doc ->> 'delay')::numeric >= 120 or (w.doc ->> 'run_at')::timestamptz >= v_now + interval '2 minutes', false)));
            end if;
            return;
        end if;
    end if;
    return query select a.job_id, a.is_new, a.outcome from leasehold.add_jobs(enqueue_jobs.jobs, v_ids, null, null, null, enqueue_jobs.notify) a;
end
$$;
