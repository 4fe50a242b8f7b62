-- Only what install made, which its comment tells.
do $$
declare
    v_thing record;
begin
    for v_thing in
        select t.statement
          from (values (1, 'drop function ', '@schema@.claim_task(text, text)'), (2, 'drop view ', '@schema@.worker_tasks'),
                       (3, 'drop view ', '@schema@.task_schedules'), (4, 'drop view ', '@schema@.v_worker_capacity'),
                       (5, 'drop function ', '@schema@.write_worker_task()'), (6, 'drop function ', '@schema@.write_task_schedule()'),
                       (7, 'drop function ', '@schema@.settle_task(leasehold.all_jobs, text, jsonb, text)'),
                       (8, 'drop function ', '@schema@.recover_stale_tasks(integer)'),
                       (9, 'drop function ', '@schema@.generate_resync_tasks(integer, date)')) n(place, verb, name)
         cross join lateral (select n.verb || n.name as statement,
                                    case when n.verb = 'drop view ' then obj_description(to_regclass(n.name)::oid, 'pg_class')
                                         else obj_description(to_regprocedure(n.name)::oid, 'pg_proc') end as says) t
         where t.says like 'leasehold compat:%'
         order by n.place
    loop
        execute v_thing.statement;
    end loop;
end
$$;
