-- Capacity with the columns of task workers, and their two functions for people.
create or replace view @schema@.v_worker_capacity with (security_invoker = true) as
select c.role, c.pending_tasks, c.ready_tasks, c.claimed_tasks, c.running_tasks, c.completed_last_hour, c.failed_last_hour, c.active_workers,
       c.avg_duration_sec, c.tasks_per_worker_hour, c.estimated_hours_to_drain
  from leasehold.v_worker_capacity c;
comment on view @schema@.v_worker_capacity is 'leasehold compat: capacity of each role, as task workers know it';

create or replace function @schema@.recover_stale_tasks(threshold_minutes integer default 10) returns integer language sql
set search_path = pg_catalog, pg_temp as $$
select leasehold.recover_stale_jobs(recover_stale_tasks.threshold_minutes)
$$;
comment on function @schema@.recover_stale_tasks(integer) is 'leasehold compat: takes back tasks whose worker has been silent for so many minutes; how many';

create or replace function @schema@.generate_resync_tasks(batches_per_day integer default 6, date date default null) returns integer language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    v_names text[];
begin
    select array_agg(s.name order by s.name) into v_names
      from leasehold.schedules s
     where s.name = 'resync' or s.kind in ('product_resync', 'product_refresh', 'payload_fetch')
     group by case when s.name = 'resync' then 0 else array_position(array['product_resync', 'product_refresh', 'payload_fetch'], s.kind) end
     order by case when s.name = 'resync' then 0 else array_position(array['product_resync', 'product_refresh', 'payload_fetch'], s.kind) end
     limit 1;
    if v_names is null then
        raise exception using errcode = 'LH002', message = 'there is no schedule resync, and none of product_resync, product_refresh or payload_fetch',
            hint = 'insert into task_schedules (name, role, interval_hours) values (''resync'', ''product_resync'', 4)';
    elsif cardinality(v_names) > 1 then
        raise exception using errcode = 'LH001', message = format('several schedules make such tasks: %s', array_to_string(v_names, ', ')),
            hint = 'select * from leasehold.generate_jobs(name, batches, date) names one';
    end if;
    return (select g.job_count from leasehold.generate_jobs(v_names[1], generate_resync_tasks.batches_per_day, generate_resync_tasks.date) g);
end
$$;
comment on function @schema@.generate_resync_tasks(integer, date) is 'leasehold compat: makes the tasks of one day from the schedule that is called resync or makes such tasks; how many';
