-- Purpose     Make sure that there is a schedule as code wants it. Of one that is there already, fields that somebody changed since
--             (overridden) are left as they are; all others become what is declared, or their default. Any number of processes
--             may declare the same at once.
-- Parameters  definition: as create_schedule · actor: who declares it; null: the session's user
-- Returns     its name, and the outcome: created, updated, unchanged
-- Errors      LH001 it is refused: the message says why
-- Tables      an advisory lock of the name, as create_schedule and update_schedule
-- Callers     the scheduler at its start, clients, psql
create or replace function leasehold.declare_schedule(definition jsonb, actor text default null)
returns table (name text, outcome text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_full jsonb := leasehold.complete_schedule(declare_schedule.definition);
    v_old  leasehold.schedules;
    v_kept jsonb;
begin
    perform pg_advisory_xact_lock(hashtextextended('leasehold schedule ' || (v_full ->> 'name'), 0));
    select * into v_old from leasehold.schedules s where s.name = v_full ->> 'name' for update;
    if v_old.id is null then
        perform leasehold.set_schedule(v_full, v_full, '{}', declare_schedule.actor);
        return query select v_full ->> 'name', 'created';
    elsif v_old.declared = v_full then
        return query select v_old.name, 'unchanged';
    else
        select coalesce(jsonb_object_agg(f.key, f.value), '{}') into v_kept
          from jsonb_each(leasehold.describe_schedule(v_old)) f where f.key = any (v_old.overridden);
        perform leasehold.set_schedule(v_full || v_kept, v_full, v_old.overridden, declare_schedule.actor);
        return query select v_old.name, 'updated';
    end if;
end
$$;
