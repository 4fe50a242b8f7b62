-- What each queue has, does and can do, as measure_capacity tells it; ask get_capacity for one queue.
create or replace view leasehold.v_worker_capacity as
select * from leasehold.measure_capacity();
