-- Purpose     Write a new or changed schedule, and have a scheduler plan it if its times changed. If they did not, a
--             tick that is due already still fires.
-- Parameters  definition: from complete_schedule, with the name · declared, overridden: as the columns · actor: who changes it
-- Returns     the row
-- Errors      LH001 it is refused: the message says why
-- Tables      schedules (one row), those of its query (planned only)
create or replace function leasehold.set_schedule(definition jsonb, declared jsonb, overridden text[], actor text)
returns leasehold.schedules language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' as $$
#variable_conflict use_column
declare
    v_now   timestamptz := leasehold.clock();
    v_bad   text := leasehold.refuse_schedule(set_schedule.definition);
    v_old   leasehold.schedules;
    v_new   leasehold.schedules;
    v_plan  boolean;
begin
    if v_bad is not null then
        raise exception using errcode = 'LH001', message = v_bad;
    end if;
    select * into v_old from leasehold.schedules s where s.name = set_schedule.definition ->> 'name' for update;
    v_new := jsonb_populate_record(v_old, set_schedule.definition);
    begin
        perform v_now at time zone v_new.zone;
    exception when invalid_parameter_value then
        raise exception using errcode = 'LH001', message = format('there is no time zone %L', v_new.zone), hint = 'names are such as Europe/Berlin';
    end;
    if v_new.query is not null and v_new.query is distinct from v_old.query then
        perform leasehold.read_schedule_rows(v_new.query, only_plan => true);
    end if;
    v_plan := v_old.id is null or (v_old.enabled, v_old.every, v_old.cron, v_old.at, v_old.zone, v_old.starts_at, v_old.ends_at)
              is distinct from (v_new.enabled, v_new.every, v_new.cron, v_new.at, v_new.zone, v_new.starts_at, v_new.ends_at);
    v_new.revision := coalesce(v_old.revision + 1, 1);
    v_new.anchor := case when v_new.every is null then null
                         when v_old.every = v_new.every and v_old.starts_at is not distinct from v_new.starts_at then v_old.anchor
                         else coalesce(v_new.starts_at, v_now) end;
    v_new.planned_revision := case when not v_plan and v_old.planned_revision = v_old.revision then v_new.revision end;
    v_new.planned_from := case when v_plan then v_now else v_old.planned_from end;
    v_new.next_run_at := case when not v_plan then v_old.next_run_at end;
    v_new.last_error := case when not v_plan then v_old.last_error end;
    v_new.declared := set_schedule.declared;
    v_new.overridden := set_schedule.overridden;
    v_new.created_at := coalesce(v_old.created_at, v_now);
    v_new.updated_at := v_now;
    v_new.updated_by := coalesce(set_schedule.actor, session_user);
    if v_old.id is null then
        v_new.id := nextval('leasehold.schedules_id_seq');
        insert into leasehold.schedules select v_new.*;
    else
        update leasehold.schedules s
           set (name, description, enabled, kind, queue, args, priority, key, key_group, max_attempts, timeout, metadata, every, anchor, cron, at, zone, query,
               query_timeout, query_rows, stagger, batches, missed, grace, catch_up_limit, overlap, starts_at, ends_at, revision,
               planned_revision, planned_from, next_run_at, last_error, declared, overridden, updated_at, updated_by)
             = (select n.name, n.description, n.enabled, n.kind, n.queue, n.args, n.priority, n.key, n.key_group, n.max_attempts, n.timeout, n.metadata, n.every, n.anchor,
                      n.cron, n.at, n.zone, n.query, n.query_timeout, n.query_rows, n.stagger, n.batches, n.missed, n.grace, n.catch_up_limit,
                      n.overlap, n.starts_at, n.ends_at, n.revision, n.planned_revision, n.planned_from, n.next_run_at, n.last_error,
                      n.declared, n.overridden, n.updated_at, n.updated_by
                  from (select v_new.*) n)
         where s.id = v_old.id;
    end if;
    perform leasehold.send_notice('tick');
    return v_new;
end
$$;
