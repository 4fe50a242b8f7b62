-- Purpose     Say what is wrong with the blackouts of a schedule, or return null.
-- Parameters  blackouts: JSON array of {"from": "22:00", "to": "06:00", "days": ["fri"]}, local times, "to" up to 24:00, on the next
--             day where it is not after "from", days being those of "from", without them every day; and of
--             {"from": time, "to": time} for one stretch
-- Returns     one sentence that names the window and the value, or null
-- Errors      none; what is no time where a time belongs is refused by Postgres itself
-- Tables      none
create or replace function leasehold.refuse_blackouts(blackouts jsonb) returns text language sql stable
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' as $$
select case when jsonb_array_length(refuse_blackouts.blackouts) > 100 then 'there may be 100 blackouts at the most, not ' || jsonb_array_length(refuse_blackouts.blackouts) else (
    select format('blackout %s ', b.position) || b.complaint
      from (select w.position, case
                when jsonb_typeof(w.doc) <> 'object' then 'must be an object with from and to'
                when w.doc - '{from,to,days}'::text[] <> '{}'
                then format('has the unknown field %L; known are from, to, days', (select min(k) from jsonb_object_keys(w.doc - '{from,to,days}'::text[]) k))
                when jsonb_typeof(w.doc -> 'from') is distinct from 'string' or jsonb_typeof(w.doc -> 'to') is distinct from 'string' then 'needs from and to, as text'
                when w.doc ->> 'from' ~ '^([01]\d|2[0-3]):[0-5]\d$' then case
                     when w.doc ->> 'to' !~ '^(([01]\d|2[0-3]):[0-5]\d|24:00)$' then format('must end at a time of day as it begins at one, not at %L', w.doc ->> 'to')
                     when w.doc ? 'days' and (jsonb_typeof(w.doc -> 'days') <> 'array' or w.doc -> 'days' = '[]'
                                              or not w.doc -> 'days' <@ '["mon", "tue", "wed", "thu", "fri", "sat", "sun"]')
                     then format('must name days in a list, of mon, tue, wed, thu, fri, sat, sun, not %s', w.doc -> 'days') end
                when w.doc ? 'days' then 'has days, which only times of day can have'
                when (w.doc ->> 'from')::timestamptz >= (w.doc ->> 'to')::timestamptz then format('must end after it begins, %s', w.doc ->> 'from')
                when not isfinite((w.doc ->> 'from')::timestamptz) or not isfinite((w.doc ->> 'to')::timestamptz) then 'must have finite times'
                end as complaint
              from jsonb_array_elements(refuse_blackouts.blackouts) with ordinality w(doc, position)) b
     where b.complaint is not null order by b.position limit 1) end
$$;
