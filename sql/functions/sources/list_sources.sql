-- Purpose     List the sources that move in, and how many of their rows did.
-- Parameters  none
-- Returns     each source by name: since when it is sealed (null: its own workers may still claim), how many of its rows became
--             jobs and how many schedules, and how many jobs were cancelled there
-- Errors      none
-- Tables      sources, moved_rows (read)
create or replace function leasehold.list_sources()
returns table (source text, defined_at timestamptz, defined_by text, sealed_at timestamptz, jobs bigint, schedules bigint, cancelled bigint)
language sql stable
set search_path = leasehold, pg_catalog, pg_temp as $$
    select s.source, s.defined_at, s.defined_by, s.sealed_at, count(m.job_id), count(m.schedule), count(*) filter (where m.outcome = 'cancelled')
      from leasehold.sources s
      left join leasehold.moved_rows m on m.source = s.source
     group by s.source
     order by s.source
$$;
