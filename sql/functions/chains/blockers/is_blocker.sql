-- Purpose     Tell whether a JSON value can stand in blockers: the id of a job, or an object with chain (an id) or
--             position (of an earlier job of the list), and optionally until: completed, or ended, which means any
--             end of the chain.
-- Parameters  item: the value · place: of the job that has the blocker, from 1
-- Returns     true or false
-- Errors      none
-- Tables      none
create or replace function leasehold.is_blocker(item jsonb, place bigint) returns boolean
language sql immutable parallel safe as $$
select case jsonb_typeof(item)
           when 'number' then (item #>> '{}')::numeric between 1 and 9223372036854775807 and (item #>> '{}')::numeric % 1 = 0
           when 'object' then
               item - '{position,chain,until}'::text[] = '{}' and (item ? 'position') <> (item ? 'chain')
               and coalesce(item -> 'until', '"completed"') in ('"completed"', '"ended"')
               and case when jsonb_typeof(coalesce(item -> 'position', item -> 'chain')) = 'number'
                        then (item ->> 'position')::numeric % 1 = 0 and (item ->> 'position')::numeric between 1 and place - 1
                             or (item ->> 'chain')::numeric % 1 = 0 and (item ->> 'chain')::numeric between 1 and 9223372036854775807
                        else false end is true
           else false end
$$;
