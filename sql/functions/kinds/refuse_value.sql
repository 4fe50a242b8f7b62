-- Purpose     Say in what a value does not fit a JSON Schema, or return null. It knows type, enum, const, required, properties,
--             additionalProperties, items, prefixItems, anyOf, oneOf, allOf, $ref into $defs, minimum, maximum, exclusiveMinimum, exclusiveMaximum,
--             minLength, maxLength, minItems, maxItems, and such patterns as mean the same to Postgres and to Python. All else is not checked,
--             and oneOf is as anyOf, so nothing is refused that the schema allows.
-- Parameters  value · schema · defs: its $defs · path: of the value, for the sentence · depth: 0; how many schemas led here
-- Returns     one sentence that begins with the path, or null
-- Errors      none
-- Tables      none
create or replace function leasehold.refuse_value(value jsonb, schema jsonb, defs jsonb, path text, depth integer default 0) returns text language plpgsql immutable
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    s        jsonb := refuse_value.schema;
    v        jsonb := refuse_value.value;
    v_is     text := jsonb_typeof(refuse_value.value);
    v_next   integer := refuse_value.depth + 1;
    v_types  text[];
    v_text   text;
    v_number numeric;
    v_limit  numeric;
    v_part   record;
    v_found  text;
    v_fits   boolean;
begin
    if s = 'false' then
        return path || ' must not be there';
    elsif jsonb_typeof(s) <> 'object' or v_next > 200 then
        return null;
    end if;
    if s ->> '$ref' like '#/$defs/%' then
        v_found := leasehold.refuse_value(v, defs -> replace(replace(substr(s ->> '$ref', 9), '~1', '/'), '~0', '~'), defs, path, v_next);
        if v_found is not null then
            return v_found;
        end if;
    end if;

    if s ? 'type' then
        v_types := case jsonb_typeof(s -> 'type') when 'array' then array(select jsonb_array_elements_text(s -> 'type')) else array[s ->> 'type'] end;
        if not (v_is = any (v_types) or v_is = 'number' and 'integer' = any (v_types) and trunc((v #>> '{}')::numeric) = (v #>> '{}')::numeric) then
            return format('%s must be %s, not %s', path, array_to_string(v_types, ' or '), case v_is when 'number' then left(v #>> '{}', 50) else v_is end);
        end if;
    end if;
    if jsonb_typeof(s -> 'enum') = 'array' and not exists (select from jsonb_array_elements(s -> 'enum') e(one) where e.one = v) then
        return format('%s must be one of %s, not %s', path,
                      (select string_agg(left(e.one::text, 50), ', ') from (select o.one from jsonb_array_elements(s -> 'enum') o(one) limit 20) e),
                      left(v::text, 50));
    elsif s ? 'const' and s -> 'const' <> v then
        return format('%s must be %s, not %s', path, left((s -> 'const')::text, 50), left(v::text, 50));
    end if;

    if v_is = 'number' then
        v_number := (v #>> '{}')::numeric;
        for v_part in select b.key, b.value from jsonb_each(s) b
                       where b.key in ('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum') and jsonb_typeof(b.value) = 'number' loop
            v_limit := (v_part.value #>> '{}')::numeric;
            v_fits := case v_part.key when 'minimum' then v_number >= v_limit when 'maximum' then v_number <= v_limit
                                      when 'exclusiveMinimum' then v_number > v_limit else v_number < v_limit end;
            -- A number with more digits than a float has may be equal to the limit once Python has read it.
            if not v_fits and v_part.key in ('minimum', 'maximum') and abs(v_number) between 1e-300 and 1e300 and abs(v_limit) between 1e-300 and 1e300 then
                v_fits := v_number::double precision = v_limit::double precision;
            end if;
            if not v_fits then
                return format('%s must be %s %s, not %s', path, case v_part.key when 'minimum' then 'at least' when 'maximum' then 'at most'
                              when 'exclusiveMinimum' then 'more than' else 'less than' end, v_part.value #>> '{}', left(v #>> '{}', 50));
            end if;
        end loop;
    elsif v_is = 'string' then
        v_text := v #>> '{}';
        if length(v_text) < (s ->> 'minLength')::numeric or length(v_text) > (s ->> 'maxLength')::numeric then
            return format('%s must have %s, not %s', path, 
                          concat_ws(' and ', 'at least ' || (s ->> 'minLength'), 'at most ' || (s ->> 'maxLength')) || ' characters', length(v_text));
        elsif v_text !~ E'\\n' and s ->> 'pattern' ~ (E'^\\^?(([A-Za-z0-9_/:@, -]|\\\\[-./+*?()|]|\\[\\^?([A-Za-z0-9_./:@]|a-z|A-Z|0-9|a-f|A-F)+-?\\])'
                                                    || E'([*+?]|\\{\\d{1,2},?\\}|\\{[01],[1-9]\\d?\\})?)*\\$?$') and v_text collate "C" !~ (s ->> 'pattern') then
            return format('%s must match %s', path, s ->> 'pattern');
        end if;
    elsif v_is = 'array' then
        if jsonb_array_length(v) < (s ->> 'minItems')::numeric or jsonb_array_length(v) > (s ->> 'maxItems')::numeric then
            return format('%s must have %s items, not %s', path,
                          concat_ws(' and ', 'at least ' || (s ->> 'minItems'), 'at most ' || (s ->> 'maxItems')), jsonb_array_length(v));
        end if;
        for v_part in select e.one, e.place - 1 as place, coalesce(s -> 'prefixItems' -> (e.place - 1)::integer, s -> 'items') as schema
                        from jsonb_array_elements(v) with ordinality e(one, place) where s ?| '{items,prefixItems}' loop
            v_found := leasehold.refuse_value(v_part.one, v_part.schema, defs, path || '[' || v_part.place || ']', v_next);
            if v_found is not null then
                return v_found;
            end if;
        end loop;
    elsif v_is = 'object' then
        v_found := (select min(r.name) from jsonb_array_elements_text(case jsonb_typeof(s -> 'required') when 'array' then s -> 'required' else '[]' end) r(name)
                     where not v ? r.name);
        if v_found is not null then
            return format('%s.%s is missing', path, v_found);
        end if;
        for v_part in select f.key, f.value, coalesce(s -> 'properties' -> f.key, case when not s ? 'patternProperties' then s -> 'additionalProperties' end) as schema
                        from jsonb_each(v) f loop
            v_found := case when v_part.schema = 'false' and not coalesce(s -> 'properties', '{}') ? v_part.key
                            then format('%s.%s is unknown; known are %s', path, left(v_part.key, 50),
                                        coalesce((select string_agg(p, ', ' order by p) from jsonb_object_keys(coalesce(s -> 'properties', '{}')) p), 'none'))
                            else leasehold.refuse_value(v_part.value, v_part.schema, defs, path || '.' || v_part.key, v_next) end;
            if v_found is not null then
                return v_found;
            end if;
        end loop;
    end if;

    for v_part in select o.one from jsonb_array_elements(case jsonb_typeof(s -> 'allOf') when 'array' then s -> 'allOf' else '[]' end) o(one) loop
        v_found := leasehold.refuse_value(v, v_part.one, defs, path, v_next);
        if v_found is not null then
            return v_found;
        end if;
    end loop;
    for v_part in select s -> f.name as choices from unnest('{anyOf,oneOf}'::text[]) f(name) where jsonb_typeof(s -> f.name) = 'array' loop
        v_fits := false;
        v_text := null;
        for v_found in select coalesce(leasehold.refuse_value(v, o.one, defs, path, v_next), '') from jsonb_array_elements(v_part.choices) o(one) loop
            v_fits := v_fits or v_found = '';
            v_text := coalesce(v_text || '; or ', '') || v_found;
            exit when v_fits;
        end loop;
        if not v_fits then
            return left(v_text, 500);
        end if;
    end loop;
    return null;
end
$$;
