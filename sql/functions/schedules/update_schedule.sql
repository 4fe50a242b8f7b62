-- Purpose     Change a schedule. New times hold from now on; other changes from the next tick on. What is changed of
--             a declared schedule stays changed when code declares it again.
-- Parameters  name: its name, or its id · changes: the fields to change, as in create_schedule; null: the default; a new every,
--             cron or at takes the place of the old one · revision: refuse if somebody changed it since it had this one
--             actor: who changes it; null: the session's user
-- Returns     the row; unchanged where nothing is new
-- Errors      LH001 it is refused: the message says why · LH002 there is none · LH004 it has another revision by now
-- Tables      schedules (one row), those of its query (planned only)
create or replace function leasehold.update_schedule(name text, changes jsonb, revision bigint default null, actor text default null)
returns leasehold.schedules language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    c_rhythm  constant text[] := '{every,cron,at}';
    v_old     leasehold.schedules := leasehold.find_schedule(update_schedule.name, lock => true);
    v_before  jsonb := leasehold.complete_schedule(leasehold.describe_schedule(v_old));
    v_full    jsonb;
    v_changed text[];
begin
    if update_schedule.revision <> v_old.revision then
        raise exception using errcode = 'LH004', message = format('schedule %L has revision %s by now, not %s', v_old.name, v_old.revision, update_schedule.revision),
            hint = 'look at it again';
    elsif jsonb_typeof(update_schedule.changes) is distinct from 'object' or update_schedule.changes ->> 'name' <> v_old.name then
        raise exception using errcode = 'LH001', message = 'changes must be a JSON object, and cannot give a schedule another name';
    end if;
    if jsonb_path_exists(update_schedule.changes, '$.keyvalue() ? (@.key like_regex "^(every|cron|at)$" && @.value != null)') then
        v_before := v_before - c_rhythm;
    end if;
    v_full := leasehold.complete_schedule(v_before || update_schedule.changes);
    v_before := leasehold.describe_schedule(v_old);
    v_changed := array(select f.key from jsonb_each(v_full) f where f.value is distinct from v_before -> f.key);
    if v_changed = '{}' then
        return v_old;
    end if;
    if v_changed && c_rhythm then
        v_changed := v_changed || c_rhythm;
    end if;
    return leasehold.set_schedule(v_full, v_old.declared, case when v_old.declared is null then '{}'
               else array(select distinct u from unnest(v_old.overridden || v_changed) u order by 1) end, update_schedule.actor);
end
$$;
