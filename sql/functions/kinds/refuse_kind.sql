-- Purpose     Say what is wrong with what an app says of a kind, or return null.
-- Parameters  kind: as an element of declare_kinds
-- Returns     one sentence that names the kind, the field and the value, or null
-- Errors      none
-- Tables      none
create or replace function leasehold.refuse_kind(kind jsonb) returns text language sql immutable
set search_path = leasehold, pg_catalog, pg_temp as $$
select format('kind %s: ', k ->> 'kind') || case
  when jsonb_typeof(k) <> 'object' then 'it must be a JSON object'
  when jsonb_typeof(k -> 'kind') is distinct from 'string' then 'kind must be a string'
  when k - c_fields <> '{}' then 'unknown field ' || quote_literal((select min(f) from jsonb_object_keys(k) f where f <> all (c_fields)))
       || '; known are ' || array_to_string(c_fields, ', ')
  when exists (select from jsonb_each(k) f where f.value <> 'null' and jsonb_typeof(f.value) <> case
           when f.key in ('priority', 'max_attempts', 'timeout', 'deadline') then 'number' when f.key in ('kind', 'queue', 'key', 'key_group') then 'string'
           when f.key = 'checks_args' then 'boolean' else 'object' end)
       then (select min(f.key || ' must not be of type ' || jsonb_typeof(f.value)) from jsonb_each(k) f where f.value <> 'null' and jsonb_typeof(f.value) <> case
           when f.key in ('priority', 'max_attempts', 'timeout', 'deadline') then 'number' when f.key in ('kind', 'queue', 'key', 'key_group') then 'string'
           when f.key = 'checks_args' then 'boolean' else 'object' end)
  when concat(k ->> 'priority', ' ', coalesce(k ->> 'max_attempts', '1')) !~ '^(-?[0-9]{1,9})? [0-9]{1,7}$' then 'priority and max_attempts must be whole numbers'
  when k ->> 'key' !~ '^args([.][^.]+)+$' then 'key must be a place in the args, such as args.order_id, not ' || quote_literal(k ->> 'key')
  when k ->> 'key_group' !~ '^args([.][^.]+)+$' then 'key_group must be a place in the args, such as args.tenant, not ' || quote_literal(k ->> 'key_group')
  when (k ->> 'deadline')::numeric <= 0 or (k ->> 'deadline')::numeric > leasehold.longest_time()
       then 'deadline must be more than 0 seconds and at most 100 years, not ' || (k ->> 'deadline')
  when (k ->> 'timeout')::numeric <= 0 or (k ->> 'timeout')::numeric > leasehold.longest_time()
       then 'timeout must be more than 0 seconds and at most 100 years, not ' || (k ->> 'timeout')
  else coalesce(
       leasehold.refuse_job(k ->> 'kind', null, k ->> 'queue', null, (k ->> 'max_attempts')::integer, null, null, null, null, null, null, null, null, null),
       leasehold.refuse_unique(jsonb_build_object('unique', case when jsonb_typeof(k #> '{unique,by}') = 'array' and k #> '{unique,by}' <> '[]'
           then (k -> 'unique') - 'by' || jsonb_build_object('by',
           coalesce((select nullif(jsonb_agg(b.part), '[]') from jsonb_array_elements(k -> 'unique' -> 'by') b(part)
                      where (b.part #>> '{}') <> all ('{key,key_group}') and (b.part #>> '{}') not like 'args._%'), '["kind"]')) else k -> 'unique' end)))
  end
  from (select refuse_kind.kind as k, '{kind,queue,priority,max_attempts,timeout,deadline,retry,unique,key,key_group,args_schema,output_schema,checks_args}'::text[]
               as c_fields) given
$$;
