-- What each queue has, does and can do, as measure_capacity tells it; ask get_capacity for one queue. Task workers' names for
-- the same columns stand beside ours: role, pending_tasks, avg_duration_sec and so on.
create or replace view leasehold.v_worker_capacity as
select * from leasehold.measure_capacity();
