-- Purpose     Make the unique key of a job: its own text, or one derived from the fields that `by` names, in any
--             order. Numbers are told apart as JSON writes them: 1 is not 1.0.
-- Parameters  job: as in enqueue_jobs, with a `unique` that refuse_unique takes
-- Returns     text; null for a job without `unique`
-- Errors      none
-- Tables      none
create or replace function leasehold.name_unique_key(job jsonb) returns text language sql stable
set search_path = leasehold, pg_catalog, pg_temp as $$
select case
  when jsonb_typeof(job -> 'unique') is distinct from 'object' then null
  when job -> 'unique' ? 'key' then 'key:' || (job #>> '{unique,key}')
  else 'by:' || (select encode(sha256(convert_to(jsonb_object_agg(b.part, case
                            when b.part = 'queue' then to_jsonb(coalesce(job ->> 'queue', 'default'))
                            when b.part = 'args' then coalesce(nullif(job -> 'args', 'null'), '{}')
                            when b.part like 'args._%' then job -> 'args' -> substr(b.part, 6)
                            else job -> b.part end)::text, 'UTF8')), 'hex')
                   from jsonb_array_elements_text(coalesce(job #> '{unique,by}', '["kind", "args"]')) b(part))
  end
$$;
