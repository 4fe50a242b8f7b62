-- Purpose     Tell when the next scheduled job comes due.
-- Parameters  none
-- Returns     seconds, below 0 when it is overdue, null when nothing is scheduled
-- Errors      none
-- Tables      jobs (read, one index entry)
create or replace function leasehold.next_due_in() returns double precision language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
select extract(epoch from j.run_at - leasehold.clock())::double precision
  from leasehold.jobs j where j.state = 'scheduled' order by j.run_at limit 1
$$;
