-- Purpose     Write simple jobs of which some have an idempotency key, where none of these keys was used before.
-- Parameters  jobs: as enqueue_jobs, an array · ids: of the jobs · at: now
-- Returns     as enqueue_jobs; nothing where a job is not simple, has a key or shares its idempotency key, or where an idempotency
--             key was used: then no job was written, and add_jobs goes on with the same ids. The new keys stand already
-- Errors      none
-- Tables      idempotency_keys (insert, in key order), jobs (insert)
create or replace function leasehold.enqueue_once(jobs jsonb, ids bigint[], at timestamptz)
returns table (job_id bigint, is_new boolean, outcome text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
begin
    return query
    with job as materialized (
        select j.*, enqueue_once.ids[j.place] as id from leasehold.read_simple_jobs(enqueue_once.jobs, enqueue_once.at) j where j.key is null
    ), listed as materialized (
        select count(*) = jsonb_array_length(enqueue_once.jobs) and count(j.idempotency_key) = count(distinct j.idempotency_key) as is_simple,
               count(j.idempotency_key) as keys
          from job j
    ), used as (
        insert into leasehold.idempotency_keys (idempotency_key, part, job_id, created_at)
        select j.idempotency_key, 0, j.id, enqueue_once.at from job j
         where j.idempotency_key is not null and (select l.is_simple from listed l)
         order by j.idempotency_key
        on conflict do nothing
        returning 1
    )
    insert into leasehold.jobs (id, created_at, run_at, priority, max_attempts, kind, queue, key_group, timeout, traceparent, args, metadata, state)
    select j.id, enqueue_once.at, j.run_at, j.priority, j.max_attempts, j.kind, j.queue, j.key_group, j.timeout, j.traceparent, j.args, j.metadata,
           case when j.run_at > enqueue_once.at then 'scheduled' else 'pending' end
      from job j
     where (select l.is_simple and l.keys = (select count(*) from used) from listed l)
    returning id, true, 'created';
end
$$;
