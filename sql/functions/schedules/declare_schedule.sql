-- Purpose     Make or change a schedule as code declares it. Fields that somebody changed since (overridden) stay as
--             they are; all others become what is declared, or their default. Any number of processes may declare the
--             same schedule at once. A schedule that another app declares stays as it is, unless it is orphaned.
-- Parameters  definition: as create_schedule · actor: who declares it; null: the session's user · app: whose it is, as
--             module:attribute; null: of none, and then whose it was is neither asked nor changed
-- Returns     its name, the outcome (created, updated, unchanged; foreign: nothing is done), and whose it is now
-- Errors      LH001 it is refused: the message says why
-- Tables      an advisory lock of the name, as create_schedule and update_schedule
create or replace function leasehold.declare_schedule(definition jsonb, actor text default null, app text default null)
returns table (name text, outcome text, declared_by text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_full    jsonb := leasehold.complete_schedule(declare_schedule.definition);
    v_old     leasehold.schedules;
    v_kept    jsonb;
    v_outcome text;
begin
    perform pg_advisory_xact_lock(hashtextextended('leasehold schedule ' || (v_full ->> 'name'), 0));
    select * into v_old from leasehold.schedules s where s.name = v_full ->> 'name' for update;
    if v_old.declared_by <> declare_schedule.app and v_old.orphaned_at is null then
        return query select v_old.name, 'foreign', v_old.declared_by;
        return;
    elsif v_old.id is null then
        perform leasehold.set_schedule(v_full, v_full, '{}', declare_schedule.actor);
        v_outcome := 'created';
    elsif v_old.declared = v_full then
        v_outcome := 'unchanged';
    else
        select coalesce(jsonb_object_agg(f.key, f.value), '{}') into v_kept
          from jsonb_each(leasehold.describe_schedule(v_old)) f where f.key = any (v_old.overridden);
        perform leasehold.set_schedule(v_full || v_kept, v_full, v_old.overridden, declare_schedule.actor);
        v_outcome := 'updated';
    end if;
    if declare_schedule.app is not null and (v_old.declared_by is distinct from declare_schedule.app or v_old.orphaned_at is not null) then
        update leasehold.schedules s set declared_by = declare_schedule.app, orphaned_at = null where s.name = v_full ->> 'name';
    end if;
    return query select v_full ->> 'name', v_outcome, coalesce(declare_schedule.app, v_old.declared_by);
end
$$;
