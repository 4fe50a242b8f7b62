-- Purpose     Say how the tables of another queue in this database are read, so that it can move in. Only the owner may: what the
--             mapping says is SQL, and runs with the owner's rights. Whether it fits the tables shows when it runs. A second call
--             replaces the mapping.
-- Parameters  source: its name
--             mapping: JSON object with
--             jobs: a list; for each table its name (with its schema), id and state (columns), states (what each state there means
--               here: pending, which moves; running, completed, failed, cancelled, which do not), columns (fields of enqueue_jobs,
--               each a SQL expression over the row s; positional: a JSON array of args without names), refuse (an expression:
--               why a row cannot move, or null), moved (the SET of an UPDATE that ends the row there; without it the row is deleted),
--               action (move, or cancel: end it there and make no job)
--             schedules: a list; table, id, columns (fields of create_schedule), refuse, moved as above; live: whether it is enabled;
--               action (move, or disable: make none here)
--             refill: a list; columns (fields of enqueue_jobs), table, where, filters (expressions by name): one job for each row,
--               or one job without a table
--             kinds, queues: names there to names here · positional: by kind there, the names of its positional args
--             search_path: schemas in which its SQL and the triggers of its tables find names, after pg_catalog
--             afterwards: statements that follow each batch in which something moved
-- Returns     whether it is new
-- Errors      LH001 the mapping is refused, or a schema of its search_path is not there: the message says why · LH004 the source is sealed
-- Tables      an advisory lock of the name, sources
create or replace function leasehold.define_source(source text, mapping jsonb) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_complaint text;
    v_is_new    boolean;
begin
    if coalesce(octet_length(define_source.source), 0) not between 1 and 100 then
        raise exception using errcode = 'LH001', message = 'the name of a source must have 1 to 100 bytes', hint = 'docs/moving-in.md has the form of a mapping';
    end if;
    with part as (
        select r.room, p.place, p.doc, format('%s %s', r.room, p.place) as called
          from (values ('jobs'), ('schedules'), ('refill')) r(room),
               jsonb_array_elements(case jsonb_typeof(define_source.mapping -> r.room) when 'array' then define_source.mapping -> r.room else '[]' end)
               with ordinality p(doc, place)
    ), known(room, fields, required) as (
        values ('mapping', '{jobs,schedules,refill,kinds,queues,positional,afterwards,search_path}'::text[], '{}'::text[]),
               ('jobs', '{table,id,state,states,columns,refuse,moved,action}', '{table,id,state,states,columns}'),
               ('schedules', '{table,id,live,columns,refuse,moved,action}', '{table,id,live,columns}'),
               ('refill', '{table,where,filters,columns}', '{columns}')
    ), complaint(place, said) as (
        select 0, 'a mapping must be a JSON object, not ' || coalesce(jsonb_typeof(define_source.mapping), 'null')
         where jsonb_typeof(define_source.mapping) is distinct from 'object'
        union all
        select 1, format('unknown field %L; known are %s', f, array_to_string(k.fields, ', '))
          from known k, jsonb_object_keys(case jsonb_typeof(define_source.mapping) when 'object' then define_source.mapping else '{}' end) f
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
        select 6, format('search_path must be a list of schemas in one text, such as "app, public", not %s', define_source.mapping -> 'search_path')
         where define_source.mapping ->> 'search_path' !~ '^[a-z_][a-z0-9_]*(, *[a-z_][a-z0-9_]*)*$'
        union all
        select 7, format('%s: action must be move or %s, not %L', p.called, case p.room when 'jobs' then 'cancel' else 'disable' end, p.doc ->> 'action')
          from part p where p.doc ->> 'action' not in ('move', case p.room when 'jobs' then 'cancel' else 'disable' end)
        union all
        select 8, format('there is no schema %L here; tables of the mapping would be looked for in it', n.name)
          from regexp_split_to_table(define_source.mapping ->> 'search_path', ', *') n(name)
         where not exists (select from pg_namespace s where s.nspname = n.name)
    )
    select c.said into v_complaint from complaint c order by c.place, c.said limit 1;
    if v_complaint is not null then
        raise exception using errcode = 'LH001', message = v_complaint, hint = 'docs/moving-in.md has the form of a mapping';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('leasehold source ' || define_source.source, 0));
    if exists (select from leasehold.sources s where s.source = define_source.source and s.sealed_at is not null and s.mapping <> define_source.mapping) then
        raise exception using errcode = 'LH004', message = format('source %L is sealed: its guards know the mapping as it was', define_source.source),
            hint = 'open it first';
    end if;
    insert into leasehold.sources as s (source, mapping, defined_at, defined_by)
    values (define_source.source, define_source.mapping, leasehold.clock(), session_user)
    on conflict (source) do update set mapping = excluded.mapping, defined_at = excluded.defined_at, defined_by = excluded.defined_by
    returning s.xmax = 0 into v_is_new;
    return v_is_new;
end
$$;
