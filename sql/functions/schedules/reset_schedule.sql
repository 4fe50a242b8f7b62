-- Purpose     Undo what was changed of a declared schedule: it is again as code declared it last.
-- Parameters  name: its name, or its id · actor: who does it; null: the session's user
-- Returns     the row
-- Errors      LH002 there is none · LH004 no code declared it
-- Tables      as update_schedule
create or replace function leasehold.reset_schedule(name text, actor text default null) returns leasehold.schedules language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_old leasehold.schedules := leasehold.find_schedule(reset_schedule.name, lock => true);
begin
    if v_old.declared is null then
        raise exception using errcode = 'LH004', message = format('schedule %L was made by hand; no code declares it', v_old.name);
    elsif v_old.overridden = '{}' then
        return v_old;
    end if;
    return leasehold.set_schedule(v_old.declared, v_old.declared, '{}', reset_schedule.actor);
end
$$;
