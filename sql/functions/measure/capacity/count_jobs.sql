-- Purpose     Count the jobs of each queue in each state. Finished jobs count for as long as they are kept. Big
--             tables are not counted now: the accountant's last count is given, and list_queue_depths tells how old
--             it is.
-- Parameters  none
-- Returns     queue, state, jobs; only what there is
-- Errors      none
-- Tables      as list_queue_depths
create or replace function leasehold.count_jobs() returns table (queue text, state text, jobs bigint) language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select d.queue, d.state, d.jobs from leasehold.list_queue_depths() d order by 1, 2
$$;
