-- Purpose     Find a schedule by its name or id, or refuse.
-- Parameters  name: its name, or its id where no schedule has that name · lock: for update
-- Returns     the row
-- Errors      LH002 there is none
-- Tables      schedules (read, or one row locked)
create or replace function leasehold.find_schedule(name text, lock boolean default false) returns leasehold.schedules language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_found leasehold.schedules;
    v_id    bigint := (select s.id from leasehold.schedules s where s.name = find_schedule.name);
begin
    v_id := coalesce(v_id, case when find_schedule.name ~ '^[0-9]{1,18}$' then find_schedule.name::bigint end);
    if find_schedule.lock then
        select * into v_found from leasehold.schedules s where s.id = v_id for update;
    else
        select * into v_found from leasehold.schedules s where s.id = v_id;
    end if;
    if not found then
        raise exception using errcode = 'LH002', table = 'schedules', message = format('there is no schedule %s', coalesce(quote_literal(find_schedule.name), 'null')),
            hint = 'list_schedules names them';
    end if;
    return v_found;
end
$$;
