-- Purpose     Enqueue one job, in the caller's transaction: it exists when that transaction commits, and not otherwise.
-- Parameters  kind: which handler runs it · args: JSON object · queue · priority: higher first · run_at or delay: not
--             before · key: at most one job of a key is active · max_attempts (20) · idempotency_key: a repeated call
--             with it makes no second job · metadata: JSON object for people and filters
--             notify: wake an idle worker at commit
-- Returns     the id of the job (of the earlier one where the idempotency key was used before)
-- Errors      LH001 refused: the message says why
-- Tables      as enqueue_jobs
-- Callers     psql, other languages, callers inside their own transaction
create or replace function leasehold.enqueue_job(
    kind text, args jsonb default '{}', queue text default 'default', priority integer default 0,
    run_at timestamptz default null, delay interval default null, key text default null, max_attempts integer default null,
    idempotency_key text default null, metadata jsonb default null, notify boolean default true
) returns bigint language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select e.job_id
  from leasehold.enqueue_jobs(jsonb_build_array(jsonb_build_object(
           'kind', kind, 'args', args, 'queue', queue, 'priority', priority, 'run_at', run_at, 'delay', extract(epoch from delay),
           'key', key, 'max_attempts', max_attempts, 'idempotency_key', idempotency_key, 'metadata', metadata)), notify) e
$$;
