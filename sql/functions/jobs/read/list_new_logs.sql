-- Purpose     List what handlers of some jobs logged since a reader looked last, for readers that look every second. A line
--             that commits late has a smaller number than others, so a reader looks again at the last few seconds.
-- Parameters  job_ids · after_number: only lines with greater numbers; null: none, to find out where to begin
--             max_rows: at most
-- Returns     job_id, at, attempt, level, message, number, by number; and in each row, also in one without a line,
--             newest_number: the greatest that any line has. Lines of more than an hour ago are left out.
-- Errors      none
-- Tables      job_logs (read: the index entries of these jobs' lines of the last hour)
create or replace function leasehold.list_new_logs(job_ids bigint[], after_number bigint default null, max_rows integer default 1000)
returns table (job_id bigint, at timestamptz, attempt integer, level text, message text, number bigint, newest_number bigint)
language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
with newest as materialized (
    select coalesce(pg_sequence_last_value('leasehold.job_log_numbers'), 0) as number, leasehold.clock() - interval '1 hour' as since
)
select l.job_id, l.at, l.attempt, l.level, l.message, l.number, n.number
  from newest n
  left join lateral (select g.* from unnest(list_new_logs.job_ids) i(id)
                      cross join lateral (select o.job_id, o.at, o.attempt, o.level, o.message, o.number from leasehold.job_logs o
                                           where o.job_id = i.id and o.at >= n.since and o.number > list_new_logs.after_number) g
                      order by g.number limit list_new_logs.max_rows) l on true
 order by l.number
$$;
