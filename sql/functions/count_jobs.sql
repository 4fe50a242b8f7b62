-- Purpose     How many jobs each queue has in each state. Finished jobs count for as long as they are kept.
-- Parameters  none
-- Returns     queue, state, jobs; only what there is
-- Errors      none
-- Tables      jobs, finished_jobs (read)
-- Callers     clients, psql
create or replace function leasehold.count_jobs() returns table (queue text, state text, jobs bigint) language sql stable
set search_path = leasehold, pg_catalog, pg_temp as $$
select j.queue, j.state, count(*) from leasehold.jobs j group by 1, 2
union all
select f.queue, f.state, count(*) from leasehold.finished_jobs f group by 1, 2
order by 1, 2
$$;
