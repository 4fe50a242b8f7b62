-- Purpose     Whether a JSON value can stand in blockers: the id of a job, or {"position": n} of an earlier job of the list.
-- Parameters  item: the value · place: of the job that has the blocker, from 1
-- Returns     true or false
-- Errors      none
-- Tables      none
-- Callers     add_blockers
create or replace function leasehold.is_blocker(item jsonb, place bigint) returns boolean
language sql immutable parallel safe as $$
select case jsonb_typeof(item)
           when 'number' then (item #>> '{}')::numeric between 1 and 9223372036854775807 and (item #>> '{}')::numeric % 1 = 0
           when 'object' then item - 'position' = '{}' and coalesce(jsonb_typeof(item -> 'position'), '') = 'number'
                              and (item ->> 'position')::numeric % 1 = 0 and (item ->> 'position')::numeric between 1 and place - 1
           else false end
$$;
