-- Purpose     Show what one queue has, does and can do.
-- Parameters  queue: which
-- Returns     a row of v_worker_capacity; none for a queue of which no job is known
-- Errors      none
-- Tables      as list_queue_depths and measure_hour, workers (read)
create or replace function leasehold.get_capacity(queue text) returns setof leasehold.v_worker_capacity language sql
set search_path = leasehold, pg_catalog, pg_temp as $$
select * from leasehold.measure_capacity(get_capacity.queue) where get_capacity.queue is not null
$$;
