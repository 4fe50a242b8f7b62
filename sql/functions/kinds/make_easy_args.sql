-- Purpose     Translate a JSON Schema of args into a JSON path, which costs little, where the schema says no more than which names
--             there are, which of them must be there, and that each is text, a number, a whole number, true or false, or null.
-- Parameters  schema: of an object, with its $defs
-- Returns     path: true for args that fit, and for no others; names: the only names that args may have, null: any. No row for
--             a schema that says more: then refuse_value judges all args
-- Errors      none
-- Tables      none
create or replace function leasehold.make_easy_args(schema jsonb) returns table (path jsonpath, names text[]) language plpgsql immutable
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    c_notes constant text[] := '{title,description,default,examples,$schema}';
    v_parts text[] := '{}';
    v_field record;
    v_types text[];
begin
    if jsonb_typeof(make_easy_args.schema) is distinct from 'object' or make_easy_args.schema -> 'type' is distinct from '"object"'
       or make_easy_args.schema - c_notes - '{type,properties,required,additionalProperties,$defs}'::text[] <> '{}'
       or coalesce(make_easy_args.schema -> 'additionalProperties', 'true') not in ('true', 'false')
       or exists (select from jsonb_array_elements_text(coalesce(make_easy_args.schema -> 'required', '[]')) r(name)
                   where not coalesce(make_easy_args.schema -> 'properties', '{}') ? r.name) then
        return;
    end if;
    for v_field in select f.key, f.value from jsonb_each(coalesce(make_easy_args.schema -> 'properties', '{}')) f loop
        if jsonb_typeof(v_field.value) <> 'object' then
            return;
        end if;
        v_types := case when v_field.value - c_notes = '{}' then '{}'
                        when v_field.value - c_notes - '{type}'::text[] = '{}' and jsonb_typeof(v_field.value -> 'type') = 'string' then array[v_field.value ->> 'type']
                        when v_field.value - c_notes - '{anyOf}'::text[] = '{}'
                             and not exists (select from jsonb_array_elements(v_field.value -> 'anyOf') a(one)
                                             where case when jsonb_typeof(a.one) = 'object' then a.one - c_notes - '{type}'::text[] <> '{}' else true end
                                                or jsonb_typeof(a.one -> 'type') is distinct from 'string')
                        then array(select a.one ->> 'type' from jsonb_array_elements(v_field.value -> 'anyOf') a(one)) end;
        if v_types is null or not v_types <@ '{string,integer,number,boolean,"null"}' then
            return;
        end if;
        v_parts := v_parts || (
            select case when coalesce(make_easy_args.schema -> 'required', '[]') ? v_field.key then format('exists(%s)', p) || coalesce(' && ' || t, '')
                        else format('(!exists(%s)', p) || coalesce(' || ' || t, ' || exists(' || p || ')') || ')' end
              from (select f.p, '(' || nullif(string_agg(case u.type when 'integer' then format('%s.type() == "number" && %s.floor() == %s', p, p, p)
                                                              else format('%s.type() == %s', p, to_jsonb(u.type)) end, ' || ' order by u.type) 
                                      filter (where u.type is not null), '') || ')' as t
                      from (select '$.' || to_jsonb(v_field.key)::text as p) f left join unnest(v_types) u(type) on true
                     group by f.p) shown);
    end loop;
    path := array_to_string(array['$.type() == "object"'] || v_parts, ' && ')::jsonpath;
    names := case when make_easy_args.schema -> 'additionalProperties' = 'false'
                  then array(select f from jsonb_object_keys(coalesce(make_easy_args.schema -> 'properties', '{}')) f order by 1) end;
    return next;
end
$$;
