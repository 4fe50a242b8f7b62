-- Purpose     Enqueue one job, in the caller's transaction: it exists when that transaction commits, and not otherwise.
-- Parameters  kind: which handler runs it · args: JSON object · queue · priority: higher first · run_at or delay: not
--             before · key: at most one job of a key is active · max_attempts (20) · idempotency_key: a repeated call
--             with it makes no second job · metadata: JSON object for people and filters
--             notify: wake an idle worker at commit · key_group: what limits count by · timeout: how long one attempt may
--             run · deadline: the job fails then · blockers: chains (ids of their first jobs) that must complete first
--             unique: as claim_unique_jobs · traceparent: W3C trace context of the producer
-- Returns     the id of the job (of the earlier one where the idempotency key was used before)
-- Errors      LH001 refused: the message says why · LH006 a unique job is there already
-- Tables      as enqueue_jobs
create or replace function leasehold.enqueue_job(
    kind text, args jsonb default '{}', queue text default 'default', priority integer default 0,
    run_at timestamptz default null, delay interval default null, key text default null, max_attempts integer default null,
    idempotency_key text default null, metadata jsonb default null, notify boolean default true, key_group text default null, timeout interval default null,
    deadline timestamptz default null, blockers bigint[] default null, "unique" jsonb default null, traceparent text default null
) returns bigint language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select e.job_id
  from leasehold.enqueue_jobs(jsonb_build_array(jsonb_build_object(
           'kind', kind, 'args', args, 'queue', queue, 'priority', priority, 'run_at', run_at, 'delay', extract(epoch from delay),
           'key', key, 'max_attempts', max_attempts, 'idempotency_key', idempotency_key, 'metadata', metadata,
           'key_group', key_group, 'timeout', extract(epoch from timeout), 'deadline', deadline, 'blockers', blockers, 'unique', "unique",
           'traceparent', traceparent)), notify) e
$$;
