-- Purpose     Say what is wrong with the `unique` of a job that somebody wants to enqueue, or return null.
-- Parameters  job: as in enqueue_jobs, its other fields judged already
-- Returns     one sentence that names the field and the value, or null
-- Errors      none
-- Tables      none
create or replace function leasehold.refuse_unique(job jsonb) returns text language sql immutable parallel safe
set search_path = leasehold, pg_catalog, pg_temp as $$
select case
  when jsonb_typeof(u) <> 'object' then 'unique must be a JSON object, not ' || jsonb_typeof(u)
  when u - '{by,key,window,states,scope,exclude,on_conflict}'::text[] <> '{}'
       then 'unknown field ' || quote_literal((select min(f) from jsonb_object_keys(u) f where f <> all ('{by,key,window,states,scope,exclude,on_conflict}')))
            || ' of unique; known are by, key, window, states, scope, exclude, on_conflict'
  when u ? 'by' and u ? 'key' then 'unique takes by or key, not both'
  when jsonb_typeof(u -> 'key') <> 'string' then 'unique.key must be a string, not ' || jsonb_typeof(u -> 'key')
  when octet_length(u ->> 'key') not between 1 and 500 then 'unique.key must have 1 to 500 bytes, not ' || octet_length(u ->> 'key')
  when jsonb_typeof(u -> 'by') <> 'array' or u -> 'by' = '[]'
       then 'unique.by must be a list such as ["kind", "args.shop_id"], not ' || left((u -> 'by')::text, 100)
  when jsonb_typeof(u -> 'states') <> 'array' then 'unique.states must be a list, not ' || jsonb_typeof(u -> 'states')
  when jsonb_typeof(u -> 'exclude') <> 'array' then 'unique.exclude must be a list of chain ids, not ' || jsonb_typeof(u -> 'exclude')
  when jsonb_typeof(u -> 'window') <> 'number' then 'unique.window must be a number of seconds, not ' || jsonb_typeof(u -> 'window')
  when (u ->> 'window')::numeric <= 0 or (u ->> 'window')::numeric > leasehold.longest_time()
       then 'unique.window must be more than 0 seconds and at most 100 years, not ' || left(u ->> 'window', 100)
  when u -> 'scope' not in ('"job"', '"chain"') then 'unique.scope must be job or chain, not ' || left((u -> 'scope')::text, 100)
  when u -> 'on_conflict' not in ('"existing"', '"reject"', '"replace"', '"extend"', '"overwrite"')
       then 'unique.on_conflict must be existing, reject, replace, extend or overwrite, not ' || left((u -> 'on_conflict')::text, 100)
  else coalesce(
       (select 'unique.by takes kind, queue, key, key_group, args and args.FIELD, not ' || left(b.part::text, 100)
          from jsonb_array_elements(u -> 'by') b(part)
         where jsonb_typeof(b.part) <> 'string'
            or b.part #>> '{}' <> all ('{kind,queue,key,key_group,args}') and b.part #>> '{}' not like 'args._%' limit 1),
       (select 'unique.by names ' || b.part || ', which the job does not have'
          from jsonb_array_elements_text(u -> 'by') b(part)
         where b.part in ('key', 'key_group') and job ->> b.part is null
            or b.part like 'args._%' and (job -> 'args' ? substr(b.part, 6)) is not true limit 1),
       (select 'unique.states must be of pending, scheduled, waiting, blocked, claimed, running, completed, failed, cancelled, not ' || left(s.state::text, 100)
          from jsonb_array_elements(u -> 'states') s(state)
         where s.state <> all (array['"pending"', '"scheduled"', '"waiting"', '"blocked"', '"claimed"', '"running"', '"completed"', '"failed"', '"cancelled"']::jsonb[]) limit 1),
       (select 'unique.states must have pending, scheduled, waiting and blocked, between which a job moves by itself; there is no ' || q.state
          from unnest('{pending,scheduled,waiting,blocked}'::text[]) q(state) where not u -> 'states' ? q.state limit 1),
       (select 'unique.exclude must be a list of chain ids, not of ' || left(e.item::text, 100)
          from jsonb_array_elements(u -> 'exclude') e(item)
         where case when jsonb_typeof(e.item) = 'number' then (e.item #>> '{}')::numeric not between 0 and 9223372036854775807
                         or trunc((e.item #>> '{}')::numeric) <> (e.item #>> '{}')::numeric else true end limit 1))
  end
  from (select nullif(job -> 'unique', 'null') as u) given
$$;
