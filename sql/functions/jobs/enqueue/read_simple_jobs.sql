-- Purpose     Read those jobs of a list that need no conversion and are fit to be written as they are. It refuses nothing: what
--             it leaves out goes to add_jobs, which converts it or says what is wrong. Postgres inlines it into its callers.
-- Parameters  jobs: as enqueue_jobs, an array · at: now
-- Returns     for each simple job its place in the list, from 1, and its columns
-- Errors      none
-- Tables      none
create or replace function leasehold.read_simple_jobs(jobs jsonb, at timestamptz) returns table (
    place bigint, kind text, queue text, key text, args jsonb, metadata jsonb, priority integer, max_attempts integer, run_at timestamptz,
    key_group text, timeout double precision, traceparent text, idempotency_key text
) language sql stable parallel safe as $$
select w.position as place, w.doc ->> 'kind' as kind, coalesce(w.doc ->> 'queue', 'default') as queue, w.doc ->> 'key' as key,
       coalesce(nullif(w.doc -> 'args', 'null'), '{}') as args, nullif(w.doc -> 'metadata', 'null') as metadata,
       coalesce((w.doc ->> 'priority')::integer, 0) as priority, coalesce((w.doc ->> 'max_attempts')::integer, leasehold.default_attempts()) as max_attempts,
       greatest(read_simple_jobs.at, coalesce((w.doc ->> 'run_at')::timestamptz,
                                              read_simple_jobs.at + make_interval(secs => (w.doc ->> 'delay')::double precision))) as run_at,
       w.doc ->> 'key_group' as key_group, (w.doc ->> 'timeout')::double precision as timeout, w.doc ->> 'traceparent' as traceparent,
       w.doc ->> 'idempotency_key' as idempotency_key
  from jsonb_array_elements(read_simple_jobs.jobs) with ordinality w(doc, position)
 where case when jsonb_typeof(w.doc) <> 'object' then false
            when w.doc - '{kind,args,queue,priority,run_at,delay,key,key_group,max_attempts,timeout,traceparent,metadata,idempotency_key}'::text[] <> '{}'
            then false
            else jsonb_typeof(w.doc -> 'kind') = 'string' and octet_length(w.doc ->> 'kind') between 1 and 200
             and w.doc ->> 'kind' !~ '[[:cntrl:]]'
             and case coalesce(jsonb_typeof(w.doc -> 'queue'), 'null') when 'null' then true
                      when 'string' then w.doc ->> 'queue' !~ '[[:cntrl:],]|^ | $' and octet_length(w.doc ->> 'queue') between 1 and 200 end
             and case coalesce(jsonb_typeof(w.doc -> 'args'), 'null') when 'null' then true
                      when 'object' then pg_column_size(w.doc -> 'args') <= 1048576 end
             and case coalesce(jsonb_typeof(w.doc -> 'metadata'), 'null') when 'null' then true
                      when 'object' then pg_column_size(w.doc -> 'metadata') <= 65536 end
             and case coalesce(jsonb_typeof(w.doc -> 'key'), 'null') when 'null' then true
                      when 'string' then octet_length(w.doc ->> 'key') between 1 and 500 end
             and case coalesce(jsonb_typeof(w.doc -> 'idempotency_key'), 'null') when 'null' then true
                      when 'string' then octet_length(w.doc ->> 'idempotency_key') between 1 and 500 end
             and case coalesce(jsonb_typeof(w.doc -> 'priority'), 'null') when 'null' then true
                      when 'number' then w.doc ->> 'priority' ~ '^-?[0-9]{1,9}$' end
             and case coalesce(jsonb_typeof(w.doc -> 'max_attempts'), 'null') when 'null' then true
                      when 'number' then w.doc ->> 'max_attempts' ~ '^[1-9][0-9]{0,5}$' end
             and case coalesce(jsonb_typeof(w.doc -> 'delay'), 'null') when 'null' then true
                      when 'number' then w.doc ->> 'run_at' is null and (w.doc ->> 'delay')::numeric between 0 and leasehold.longest_time() end
             and case coalesce(jsonb_typeof(w.doc -> 'run_at'), 'null') when 'null' then true
                      when 'string' then w.doc ->> 'run_at' ~ ('^[1-8][0-9]{3}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)'
                                                      || '[ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]+)?(Z|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?)$')
                                 and (w.doc ->> 'run_at')::timestamptz < '9000-01-01Z' end
             and case coalesce(jsonb_typeof(w.doc -> 'timeout'), 'null') when 'null' then true
                      when 'number' then (w.doc ->> 'timeout')::numeric between 1e-9 and leasehold.longest_time() end
             and case coalesce(jsonb_typeof(w.doc -> 'key_group'), 'null') when 'null' then true
                      when 'string' then w.doc ->> 'key_group' <> '*' and octet_length(w.doc ->> 'key_group') between 1 and 500 end
             and case coalesce(jsonb_typeof(w.doc -> 'traceparent'), 'null') when 'null' then true
                      when 'string' then octet_length(w.doc ->> 'traceparent') <= 200 end
       end
$$;
