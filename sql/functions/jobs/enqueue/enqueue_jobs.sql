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
-- Tables      as add_jobs
create or replace function leasehold.enqueue_jobs(jobs jsonb, notify boolean default true)
returns table (job_id bigint, is_new boolean, outcome text) language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select * from leasehold.add_jobs(jobs, null, null, null, null, notify)
$$;
