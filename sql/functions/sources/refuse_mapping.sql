-- Purpose     Say what is wrong with the form of a mapping, or return null. Whether its SQL fits the tables shows when it runs.
-- Parameters  mapping: as define_source
-- Returns     one sentence that names the field and the value, or null
-- Errors      none
-- Tables      none
create or replace function leasehold.refuse_mapping(mapping jsonb) returns text language sql immutable
set search_path = leasehold, pg_catalog, pg_temp as $$
    with part as (
        select r.room, p.place, p.doc, format('%s %s', r.room, p.place) as called
          from (values ('jobs'), ('schedules'), ('refill')) r(room),
               jsonb_array_elements(case jsonb_typeof(refuse_mapping.mapping -> r.room) when 'array' then refuse_mapping.mapping -> r.room else '[]' end)
               with ordinality p(doc, place)
    ), known(room, fields, required) as (
        values ('mapping', '{jobs,schedules,refill,kinds,queues,positional,afterwards,search_path}'::text[], '{}'::text[]),
               ('jobs', '{table,id,state,states,columns,refuse,moved,action}', '{table,id,state,states,columns}'),
               ('schedules', '{table,id,live,columns,refuse,moved,action}', '{table,id,live,columns}'),
               ('refill', '{table,where,filters,columns}', '{columns}')
    ), complaint(place, said) as (
        select 0, 'a mapping must be a JSON object, not ' || coalesce(jsonb_typeof(refuse_mapping.mapping), 'null')
         where jsonb_typeof(refuse_mapping.mapping) is distinct from 'object'
        union all
        select 1, format('unknown field %L; known are %s', f, array_to_string(k.fields, ', '))
          from known k, jsonb_object_keys(case jsonb_typeof(refuse_mapping.mapping) when 'object' then refuse_mapping.mapping else '{}' end) f
         where k.room = 'mapping' and f <> all (k.fields)
        union all
        select 2, 'a mapping needs jobs, schedules or refill: a list with one table at the least' where not exists (select from part)
        union all
        select 3, format('%s: unknown field %L; known are %s', p.called, f, array_to_string(k.fields, ', '))
          from part p join known k on k.room = p.room, jsonb_object_keys(p.doc) f where f <> all (k.fields)
        union all
        select 4, format('%s: %s is missing', p.called, f) from part p join known k on k.room = p.room, unnest(k.required) f where not p.doc ? f
        union all
        select 5, format('%s: columns must name kind%s', p.called, case p.room when 'schedules' then ' and name' else '' end)
          from part p where not p.doc -> 'columns' ?& case p.room when 'schedules' then array['kind', 'name'] else array['kind'] end
        union all
        select 6, format('%s: the state %L means %L; it must be pending, running, completed, failed or cancelled', p.called, s.key, s.value #>> '{}')
          from part p, jsonb_each(p.doc -> 'states') s
         where p.room = 'jobs' and s.value #>> '{}' <> all ('{pending,running,completed,failed,cancelled}')
        union all
        select 6, format('search_path must be a list of schemas in one text, such as "app, public", not %s', refuse_mapping.mapping -> 'search_path')
         where refuse_mapping.mapping ->> 'search_path' !~ '^[a-z_][a-z0-9_]*(, *[a-z_][a-z0-9_]*)*$'
        union all
        select 7, format('%s: action must be move or %s, not %L', p.called, case p.room when 'jobs' then 'cancel' else 'disable' end, p.doc ->> 'action')
          from part p where p.doc ->> 'action' not in ('move', case p.room when 'jobs' then 'cancel' else 'disable' end)
    )
    select c.said from complaint c order by c.place, c.said limit 1
$$;
