-- Purpose     Show how far some jobs have come, as their handlers last reported it, for readers that look every second.
-- Parameters  job_ids
-- Returns     job_id, attempt, fraction (0 to 1 or null), message, at; nothing for a job whose handlers said nothing
-- Errors      none
-- Tables      job_progress (read)
create or replace function leasehold.list_progress(job_ids bigint[])
returns table (job_id bigint, attempt integer, fraction double precision, message text, at timestamptz) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select p.job_id, p.attempt, p.fraction, p.message, p.at from unnest(list_progress.job_ids) i(id)
  join leasehold.job_progress p on p.job_id = i.id
$$;
