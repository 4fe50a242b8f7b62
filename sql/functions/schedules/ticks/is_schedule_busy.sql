-- Purpose     Tell whether jobs of a schedule are still under way: a job of its last five ticks that made any, or the
--             chain that one of them began.
-- Parameters  schedule_id
-- Returns     whether it is
-- Errors      none
-- Tables      schedule_ticks, jobs (read, an index entry for each job)
create or replace function leasehold.is_schedule_busy(schedule_id bigint) returns boolean language sql volatile
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
select exists (
    select from (select t.job_ids from leasehold.schedule_ticks t
                  where t.schedule_id = is_schedule_busy.schedule_id and t.job_count > 0 order by t.id desc limit 5) t
     cross join unnest(t.job_ids) made(id)
     where exists (select from leasehold.jobs j where j.id = made.id) or exists (select from leasehold.jobs j where j.chain_id = made.id))
$$;
