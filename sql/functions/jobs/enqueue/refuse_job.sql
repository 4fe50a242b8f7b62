-- Purpose     Say what is wrong with a job that somebody wants to enqueue, or return null. Bad input is refused here,
--             so no function behind it has to doubt what it reads.
-- Parameters  as enqueue_job; args and metadata as jsonb; unknown: names of fields nobody knows, or null
-- Returns     one sentence that names the field and the value, or null
-- Errors      none
-- Tables      none
create or replace function leasehold.refuse_job(
    kind text, args jsonb, queue text, key text, max_attempts integer, idempotency_key text, metadata jsonb,
    delay double precision, run_at timestamptz, key_group text, timeout double precision, deadline timestamptz,
    traceparent text, unknown text
) returns text language sql stable parallel safe as $$
select case
  when unknown is not null then 'unknown field ' || quote_literal(unknown)
       || '; known are kind, args, queue, priority, run_at, delay, key, key_group, max_attempts, timeout, deadline, idempotency_key, fingerprint,'
       || ' unique, blockers, traceparent, metadata, check_args'
  when kind is null then 'kind is missing'
  when octet_length(kind) not between 1 and 200 then 'kind must have 1 to 200 bytes, not ' || octet_length(kind)
  when kind ~ '[[:cntrl:]]' then 'kind has a control character: ' || quote_literal(kind)
  when octet_length(queue) not between 1 and 200 then 'queue must have 1 to 200 bytes, not ' || octet_length(queue)
  when queue ~ '[[:cntrl:],]' then 'queue has a ' || case when queue ~ ',' then 'comma, which stands between queues in settings' else 'control character' end
       || ': ' || quote_literal(queue)
  when queue ~ '^ | $' then 'queue has a space at an end, which settings drop: ' || quote_literal(queue)
  when octet_length(key) not between 1 and 500 then 'key must have 1 to 500 bytes, not ' || octet_length(key)
  when octet_length(idempotency_key) not between 1 and 500
       then 'idempotency_key must have 1 to 500 bytes, not ' || octet_length(idempotency_key)
  when jsonb_typeof(args) <> 'object' then 'args must be a JSON object, not ' || jsonb_typeof(args)
  when pg_column_size(args) > 1048576 then 'args take ' || pg_column_size(args) || ' bytes; 1048576 is the most'
  when jsonb_typeof(metadata) <> 'object' then 'metadata must be a JSON object, not ' || jsonb_typeof(metadata)
  when pg_column_size(metadata) > 65536 then 'metadata takes ' || pg_column_size(metadata) || ' bytes; 65536 is the most'
  when max_attempts not between 1 and 1000000 then 'max_attempts must be from 1 to 1000000, not ' || max_attempts
  when delay is not null and run_at is not null then 'give delay or run_at, not both'
  when delay < 0 or delay > leasehold.longest_time() or delay = 'NaN' then 'delay must be from 0 seconds to 100 years, not ' || delay
  when octet_length(key_group) not between 1 and 500 then 'key_group must have 1 to 500 bytes, not ' || octet_length(key_group)
  when key_group = '*' then 'key_group must not be *, which means each group where limits are set'
  when timeout <= 0 or timeout > leasehold.longest_time() or timeout = 'NaN' then 'timeout must be more than 0 seconds and at most 100 years, not ' || timeout
  when deadline < '0001-01-01Z' or deadline >= '9000-01-01Z' then 'deadline must be a time after the year 0 and before the year 9000, not ' || deadline
  when octet_length(traceparent) > 200 then 'traceparent must have at most 200 bytes, not ' || octet_length(traceparent)
  when run_at < '0001-01-01Z' or run_at >= '9000-01-01Z' then 'run_at must be a time after the year 0 and before the year 9000, not ' || run_at
end
$$;
