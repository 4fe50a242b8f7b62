-- Purpose     Say what is wrong with a schedule, or return null. Only the form of a cron expression is checked:
--             clients check the rest, and a scheduler that cannot read it says so in last_error.
-- Parameters  definition: from complete_schedule, with a name
-- Returns     one sentence that names the field and the value, or null
-- Errors      none; what is no time where a time belongs is refused by Postgres itself
-- Tables      schedules (read: one that is there already may keep its name)
create or replace function leasehold.refuse_schedule(definition jsonb) returns text language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' as $$
declare
    c_types constant jsonb := '{"name": "string", "description": "string", "enabled": "boolean", "kind": "string", "queue": "string", "args": "object",
        "priority": "number", "key": "string", "key_group": "string", "max_attempts": "number", "timeout": "number", "metadata": "object",
        "every": "number", "cron": "string", "at": "string", "zone": "string", "query": "string", "query_timeout": "number", "query_rows": "number",
        "stagger": "number", "batches": "number", "missed": "string", "grace": "number", "catch_up_limit": "number", "overlap": "string",
        "starts_at": "string", "ends_at": "string"}';
    c_whole constant text[] := '{priority,max_attempts,query_rows,batches,catch_up_limit}';
    d       jsonb := refuse_schedule.definition;
    v_bad   text;
begin
    select case when not c_types ? f.key then 'unknown field ' || quote_literal(f.key) || '; known are ' || (select string_agg(k, ', ') from jsonb_object_keys(c_types) k)
                when jsonb_typeof(f.value) <> c_types ->> f.key
                then format('%s must be %s %s, not %s', f.key, case c_types ->> f.key when 'object' then 'an' else 'a' end, c_types ->> f.key, jsonb_typeof(f.value))
                else format('%s must be a whole number, not %s', f.key, f.value) end
      into v_bad
      from jsonb_each(d) f
     where not c_types ? f.key or f.value <> 'null' and jsonb_typeof(f.value) <> c_types ->> f.key
        or f.key = any (c_whole) and jsonb_typeof(f.value) = 'number' and f.value::numeric <> trunc(f.value::numeric)
     order by c_types ? f.key, f.key limit 1;
    if v_bad is not null then
        return v_bad;
    end if;
    v_bad := case
        when d ->> 'name' is null then 'name is missing'
        when octet_length(d ->> 'name') not between 1 and 200 then 'name must have 1 to 200 bytes, not ' || octet_length(d ->> 'name')
        when d ->> 'name' ~ '[[:cntrl:]]' then 'name has a control character: ' || quote_literal(d ->> 'name')
        when d ->> 'name' ~ '^([0-9]+|[.]{1,2}|.*/.*)$' and not exists (select from leasehold.schedules s where s.name = d ->> 'name')
             then format('name must not be all digits, which is an id, nor ., .. or with a /, which is a path, not %L', d ->> 'name')
        when num_nonnulls(d ->> 'every', d ->> 'cron', d ->> 'at') <> 1
             then 'give exactly one of every, cron and at, not ' || num_nonnulls(d ->> 'every', d ->> 'cron', d ->> 'at')
        when (d ->> 'every')::numeric not between 1 and leasehold.longest_time() then 'every must be from 1 second to 100 years, not ' || (d ->> 'every')
        when d ->> 'cron' !~* E'^\\s*(@[a-z]+|[0-9a-z*,/#-]+(\\s+[0-9a-z*,/#-]+){4,5})\\s*$' or octet_length(d ->> 'cron') > 500
             then 'cron must have five fields, six with the seconds first, or be @daily or the like, not ' || quote_literal(left(d ->> 'cron', 200))
        when (d ->> 'query_timeout')::numeric not between 0.001 and 3600 then 'query_timeout must be more than 0 and at most 3600 seconds, not ' || (d ->> 'query_timeout')
        when (d ->> 'query_rows')::numeric not between 1 and 100000 then 'query_rows must be from 1 to 100000, not ' || (d ->> 'query_rows')
        when (d ->> 'stagger')::numeric not between 0 and 31557600 then 'stagger must be from 0 seconds to a year, not ' || (d ->> 'stagger')
        when (d ->> 'batches')::numeric not between 1 and 100000 then 'batches must be from 1 to 100000, not ' || (d ->> 'batches')
        when (d ->> 'grace')::numeric not between 0 and 31557600 then 'grace must be from 0 seconds to a year, not ' || (d ->> 'grace')
        when (d ->> 'catch_up_limit')::numeric not between 1 and 10000 then 'catch_up_limit must be from 1 to 10000, not ' || (d ->> 'catch_up_limit')
        when (d ->> 'priority')::numeric not between -2147483648 and 2147483647 then 'priority must fit an integer, not ' || (d ->> 'priority')
        when d ->> 'missed' not in ('skip', 'catch_up', 'coalesce') then format('missed must be skip, catch_up or coalesce, not %L', d ->> 'missed')
        when d ->> 'overlap' not in ('allow', 'skip') then format('overlap must be allow or skip, not %L', d ->> 'overlap')
        when octet_length(d ->> 'description') > 10000 then 'description must have at most 10000 bytes, not ' || octet_length(d ->> 'description')
        when octet_length(d ->> 'query') not between 1 and 100000 then 'query must have 1 to 100000 bytes, not ' || octet_length(d ->> 'query')
        when least((d ->> 'at')::timestamptz, (d ->> 'starts_at')::timestamptz, (d ->> 'ends_at')::timestamptz) < '1970-01-01 00:00Z'
             or greatest((d ->> 'at')::timestamptz, (d ->> 'starts_at')::timestamptz, (d ->> 'ends_at')::timestamptz) > '9000-01-01 00:00Z'
             then 'at, starts_at and ends_at must lie between the years 1970 and 9000'
        when (d ->> 'starts_at')::timestamptz >= (d ->> 'ends_at')::timestamptz then format('starts_at must be before ends_at, %s is not', d ->> 'starts_at')
        when (d ->> 'max_attempts')::numeric not between 1 and 1000000 then 'max_attempts must be from 1 to 1000000, not ' || (d ->> 'max_attempts')
        end;
    return coalesce(v_bad, leasehold.refuse_job(
        d ->> 'kind', d -> 'args', d ->> 'queue', d ->> 'key', (d ->> 'max_attempts')::numeric::integer, null, nullif(d -> 'metadata', 'null'), null, null,
        d ->> 'key_group', (d ->> 'timeout')::double precision, null, null, null));
end
$$;
