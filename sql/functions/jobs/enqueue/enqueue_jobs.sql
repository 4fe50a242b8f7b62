-- Purpose     Enqueue any number of jobs in one statement, all or none, in the caller's transaction.
-- Parameters  jobs: JSON array of objects with kind (required), args, queue, priority, run_at, delay (seconds), key,
--                   key_group, max_attempts, timeout (seconds an attempt may run), deadline (fail it then: a time, or an
--                   ISO 8601 duration from now, such as PT5M), metadata,
--                   idempotency_key: a repeated call with it makes no second job, whatever else it says,
--                   fingerprint: text that stands for a whole request. With it idempotency_key is the key of the request: the
--                   first, second, … job that has both is found again as such, another fingerprint with the key is refused,
--                   and keys without fingerprint are others,
--                   unique (see claim_unique_jobs), traceparent, and blockers: an array of the chains that
--                   must complete first, each the id of a chain's first job, or {"position": n} for an earlier job of this array, or
--                   {"chain": id}; with "until": "ended" in the object any end of the chain will do
--             notify: wake an idle worker at commit; a client that rings the doorbell itself after commit passes false
-- Returns     for each, in the order given, job_id, is_new, and the outcome: created; existing, where an idempotency key was
--             used before or a unique job is there already, and job_id is that one's; or what on_conflict made of that one:
--             replaced, extended, overwritten
-- Errors      LH001 a job is refused: the message says which one and why · LH006 a unique job is there already
--             LH007 an idempotency key was used with another fingerprint
-- Tables      jobs (insert; read for the keys of new jobs), workers (read), as start_epoch; as add_jobs for jobs with other fields than c_simple
create or replace function leasehold.enqueue_jobs(jobs jsonb, notify boolean default true)
returns table (job_id bigint, is_new boolean, outcome text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    c_simple constant text[] := '{kind,args,queue,priority,run_at,delay,key,key_group,max_attempts,timeout,traceparent,metadata}';
    c_moment constant text   := '^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d(:?\d\d)?)$';
    v_now    timestamptz := leasehold.clock();
begin
    if leasehold.is_epoch_over(null) then
        perform leasehold.start_epoch(pg_sequence_last_value('leasehold.epochs_id_seq'));
    end if;
    -- Simple jobs are checked and written by one statement, all or none. It takes only what needs no conversion: all else goes
    -- to add_jobs, which converts it or refuses it with a message. docs/decisions/0021-simple-jobs-in-one-statement.md
    if jsonb_typeof(enqueue_jobs.jobs) = 'array' then
        return query
        with job as materialized (
            select w.position, w.doc ->> 'kind' as kind, coalesce(w.doc ->> 'queue', 'default') as queue, w.doc ->> 'key' as key,
                   coalesce(nullif(w.doc -> 'args', 'null'), '{}') as args, nullif(w.doc -> 'metadata', 'null') as metadata,
                   coalesce((w.doc ->> 'priority')::integer, 0) as priority, coalesce((w.doc ->> 'max_attempts')::integer, 20) as max_attempts,
                   greatest(v_now, coalesce((w.doc ->> 'run_at')::timestamptz, v_now + make_interval(secs => (w.doc ->> 'delay')::double precision))) as run_at,
                   w.doc ->> 'key_group' as key_group, (w.doc ->> 'timeout')::double precision as timeout, w.doc ->> 'traceparent' as traceparent
              from jsonb_array_elements(enqueue_jobs.jobs) with ordinality w(doc, position)
             where case when jsonb_typeof(w.doc) <> 'object' or w.doc - c_simple <> '{}' then false
                        else jsonb_typeof(w.doc -> 'kind') = 'string' and octet_length(w.doc ->> 'kind') between 1 and 200
                         and w.doc ->> 'kind' !~ '[[:cntrl:]]'
                         and case coalesce(jsonb_typeof(w.doc -> 'queue'), 'null') when 'null' then true
                                  when 'string' then w.doc ->> 'queue' !~ '[[:cntrl:],]' and octet_length(w.doc ->> 'queue') between 1 and 200 end
                         and case coalesce(jsonb_typeof(w.doc -> 'args'), 'null') when 'null' then true
                                  when 'object' then pg_column_size(w.doc -> 'args') <= 1048576 end
                         and case coalesce(jsonb_typeof(w.doc -> 'metadata'), 'null') when 'null' then true
                                  when 'object' then pg_column_size(w.doc -> 'metadata') <= 65536 end
                         and case coalesce(jsonb_typeof(w.doc -> 'key'), 'null') when 'null' then true
                                  when 'string' then octet_length(w.doc ->> 'key') between 1 and 500 end
                         and case coalesce(jsonb_typeof(w.doc -> 'priority'), 'null') when 'null' then true
                                  when 'number' then w.doc ->> 'priority' ~ '^-?\d{1,9}$' end
                         and case coalesce(jsonb_typeof(w.doc -> 'max_attempts'), 'null') when 'null' then true
                                  when 'number' then w.doc ->> 'max_attempts' ~ '^[1-9]\d{0,5}$' end
                         and case coalesce(jsonb_typeof(w.doc -> 'delay'), 'null') when 'null' then true
                                  when 'number' then w.doc ->> 'run_at' is null and (w.doc ->> 'delay')::numeric between 0 and leasehold.longest_time() end
                         and case coalesce(jsonb_typeof(w.doc -> 'run_at'), 'null') when 'null' then true
                                  when 'string' then w.doc ->> 'run_at' ~ c_moment and (w.doc ->> 'run_at')::timestamptz < '9000-01-01Z' end
                         and case coalesce(jsonb_typeof(w.doc -> 'timeout'), 'null') when 'null' then true
                                  when 'number' then (w.doc ->> 'timeout')::numeric between 1e-9 and leasehold.longest_time() end
                         and case coalesce(jsonb_typeof(w.doc -> 'key_group'), 'null') when 'null' then true
                                  when 'string' then w.doc ->> 'key_group' <> '*' and octet_length(w.doc ->> 'key_group') between 1 and 500 end
                         and case coalesce(jsonb_typeof(w.doc -> 'traceparent'), 'null') when 'null' then true
                                  when 'string' then octet_length(w.doc ->> 'traceparent') <= 200 end
                   end
        ), follower as (
            select f.position
              from (select j.position, row_number() over (partition by j.key, j.queue, j.kind order by j.priority desc, j.position) as place
                      from job j where j.key is not null and j.run_at = v_now) f
             where f.place > 1
        )
        insert into leasehold.jobs (created_at, run_at, priority, max_attempts, kind, queue, key, key_group, timeout, traceparent, args, metadata, state)
        select v_now, j.run_at, j.priority, j.max_attempts, j.kind, j.queue, j.key, j.key_group, j.timeout, j.traceparent, j.args, j.metadata,
               case when j.run_at > v_now then 'scheduled'
                    when j.key is null then 'pending'
                    when j.position in (select f.position from follower f) then 'waiting'
                    when (select o.id from leasehold.jobs o where o.key = j.key and o.queue = j.queue and o.kind = j.kind
                              and o.state in ('pending', 'waiting') limit 1) is not null
                    then 'waiting'
                    when (select h.id from leasehold.jobs h where h.key = j.key and h.incarnation is not null limit 1) is not null
                    then 'waiting'
                    else 'pending' end
          from job j
         where (select count(*) from job) = jsonb_array_length(enqueue_jobs.jobs)
        returning id, true, 'created';
        if found then
            if enqueue_jobs.notify then
                perform leasehold.wake_idle_workers(array(
                    select distinct coalesce(w.doc ->> 'queue', 'default') from jsonb_array_elements(enqueue_jobs.jobs) w(doc)
                     where not coalesce((w.doc ->> 'delay')::numeric >= 120 or (w.doc ->> 'run_at')::timestamptz >= v_now + interval '2 minutes', false)));
            end if;
            return;
        end if;
    end if;
    return query select a.job_id, a.is_new, a.outcome from leasehold.add_jobs(enqueue_jobs.jobs, null, null, null, null, enqueue_jobs.notify) a;
end
$$;
