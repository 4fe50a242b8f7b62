-- Purpose     Say what is wrong with a continuation, or return null. add_jobs checks its jobs.
-- Parameters  continuation: as continue_jobs
-- Returns     a sentence or null
-- Errors      none
-- Tables      none
create or replace function leasehold.refuse_continuation(continuation jsonb) returns text
language sql immutable parallel safe as $$
select case
  when coalesce(continuation, 'null') = 'null' then null
  when jsonb_typeof(continuation) <> 'object' then 'a continuation must be a JSON object, not ' || jsonb_typeof(continuation)
  when continuation - '{next,jobs}'::text[] <> '{}' then 'a continuation has next and jobs, not '
       || (select min(f) from jsonb_object_keys(continuation) f where f not in ('next', 'jobs'))
  when jsonb_typeof(continuation -> 'jobs') not in ('array', 'null') then 'jobs must be an array, not ' || jsonb_typeof(continuation -> 'jobs')
  when jsonb_typeof(continuation -> 'next') not in ('object', 'null') then 'next must be a job, not ' || jsonb_typeof(continuation -> 'next')
  when jsonb_typeof(continuation #> '{next,idempotency_key}') <> 'null' or jsonb_typeof(continuation #> '{next,unique}') <> 'null'
       then 'next continues the chain and takes neither idempotency_key nor unique'
end
$$;
