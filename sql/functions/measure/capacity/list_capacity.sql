-- Purpose     Show what each queue has, does and can do: v_worker_capacity, in the order of names.
-- Parameters  none
-- Returns     rows of v_worker_capacity
-- Errors      none
-- Tables      as list_queue_depths and measure_hour, workers (read)
create or replace function leasehold.list_capacity() returns setof leasehold.v_worker_capacity language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select * from leasehold.v_worker_capacity c order by c.queue
$$;
