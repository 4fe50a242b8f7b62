do $$
declare
    v_thing record;
begin
    for v_thing in
        select case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end as kind,
               c.oid::regclass::text as name
          from pg_catalog.pg_class c
         where c.relnamespace = 'leasehold'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S') and c.relowner <> '@owner@'::regrole
           and not exists (select from pg_catalog.pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')
                              and c.relkind = 'S')
        union all
        select 'type', t.oid::regtype::text from pg_catalog.pg_type t join pg_catalog.pg_class c on c.oid = t.typrelid
         where t.typnamespace = 'leasehold'::regnamespace and c.relkind = 'c' and t.typowner <> '@owner@'::regrole
        union all
        select 'function', p.oid::regprocedure::text from pg_catalog.pg_proc p
         where p.pronamespace = 'leasehold'::regnamespace and p.proowner <> '@owner@'::regrole and p.proname <> all ('{@query_functions@}')
    loop
        execute format('alter %s %s owner to @owner@', v_thing.kind, v_thing.name);
    end loop;
    for v_thing in select p.oid::regprocedure::text as name from pg_catalog.pg_proc p where p.pronamespace = 'leasehold'::regnamespace and p.prosecdef loop
        execute format('alter function %s security invoker', v_thing.name);
    end loop;
end
$$;
