-- Purpose     Count what list_changes has in each second. A reader that has shown all of a second and finds more in
--             it later has missed what a slow transaction committed late.
-- Parameters  since, until: from this moment, before that one
-- Returns     second (since 1970), changes: how many, ids: the sum of their job ids; seconds without any are left out
-- Errors      none
-- Tables      job_events, finished_jobs (read)
create or replace function leasehold.count_changes(since timestamptz, until timestamptz)
returns table (second bigint, changes bigint, ids numeric) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
select floor(extract(epoch from c.at))::bigint, count(*), sum(c.job_id)
  from (select e.at, e.job_id from leasehold.job_events e where e.at >= count_changes.since and e.at < count_changes.until
        union all
        select f.finished_at, f.id from leasehold.finished_jobs f
         where f.finished_at >= count_changes.since and f.finished_at < count_changes.until) c
 group by 1
$$;
