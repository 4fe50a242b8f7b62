-- Before anything is made: the schema is there, and nothing of somebody else's has one of our names in it.
do $$
declare
    v_there text;
begin
    if to_regnamespace('@schema@') is null then
        raise exception using errcode = 'LH001', message = 'there is no schema @schema@', hint = 'create schema @schema@';
    end if;
    select string_agg(t.name, ', ' order by t.name) into v_there
      from (select c.relname::text as name, obj_description(c.oid, 'pg_class') as says from pg_class c
             where c.relnamespace = '@schema@'::regnamespace and c.relname in ('worker_tasks', 'task_schedules', 'v_worker_capacity')
             union all
            select p.proname || '()', obj_description(p.oid, 'pg_proc') from pg_proc p
             where p.pronamespace = '@schema@'::regnamespace
               and p.proname in ('recover_stale_tasks', 'generate_resync_tasks', 'claim_task', 'settle_task', 'write_worker_task', 'write_task_schedule')) t
     where coalesce(t.says, '') not like 'leasehold compat:%';
    if v_there is not null then
        raise exception using errcode = 'LH004', message = format('the schema @schema@ has %s already, and not from us', v_there),
            hint = 'move its tasks with `leasehold import`, then rename or drop it; or choose another --schema';
    end if;
end
$$;
