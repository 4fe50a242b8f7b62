-- Purpose     List a page of schedules, by name.
-- Parameters  enabled, kind, queue: only such · after_name: the last name of the page before · page_size: 1 to 1000
-- Returns     rows of schedules
-- Errors      LH001 page_size out of range
-- Tables      schedules (read)
create or replace function leasehold.list_schedules(
    enabled boolean default null, kind text default null, queue text default null, after_name text default null, page_size integer default 100
) returns setof leasehold.schedules language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
begin
    if coalesce(list_schedules.page_size, 0) not between 1 and 1000 then
        raise exception using errcode = 'LH001', message = format('page_size must be from 1 to 1000, not %s', coalesce(list_schedules.page_size::text, 'null'));
    end if;
    return query
    select s.* from leasehold.schedules s
     where (list_schedules.enabled is null or s.enabled = list_schedules.enabled) and (list_schedules.kind is null or s.kind = list_schedules.kind)
       and (list_schedules.queue is null or s.queue = list_schedules.queue) and (list_schedules.after_name is null or s.name > list_schedules.after_name)
     order by s.name limit list_schedules.page_size;
end
$$;
