-- Schedules with the columns of task workers.
create or replace view @schema@.task_schedules with (security_invoker = true) as
select s.id, s.name, s.kind as role, s.enabled, s.every / 3600 as interval_hours, s.priority,
       coalesce(s.args ->> 'state_code', s.metadata ->> 'state_code') as state_code, s.last_run_at, s.next_run_at,
       s.last_job_count as last_task_count, s.last_error
  from leasehold.schedules s;
comment on view @schema@.task_schedules is 'leasehold compat: schedules as task workers know them; writing calls the functions of leasehold';

-- What is written to task_schedules. A schedule of tasks of stores makes one for each row of the table dispensaries, where there is one.
create or replace function @schema@.write_task_schedule() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
    c_ours    constant text[] := '{id,last_run_at,next_run_at,last_task_count,last_error}';
    v_old     leasehold.schedules;
    v_changed text[];
    v_fields  jsonb := '{}';
    v_state   jsonb;
begin
    if tg_op = 'DELETE' then
        perform leasehold.delete_schedule(old.name);
        return old;
    end if;
    v_changed := array(select n.key from jsonb_each(to_jsonb(new)) n
                        where n.value is distinct from case when tg_op = 'UPDATE' then to_jsonb(old) -> n.key else 'null' end order by 1);
    if v_changed && (case when tg_op = 'INSERT' then array_remove(c_ours, 'next_run_at') else c_ours end) then
        raise exception using errcode = 'LH001', message = format(
            'task_schedules: %s cannot be written here: leasehold fills it',
            array_to_string(array(select c from unnest(v_changed) c where c = any (c_ours)), ', ')),
            hint = 'leasehold.trigger_schedule(name) runs a schedule now';
    end if;
    v_state := jsonb_strip_nulls(jsonb_build_object('state_code', new.state_code));
    select jsonb_object_agg(f.name, f.value) into v_fields
      from (values ('role', 'kind', to_jsonb(new.role)), ('role', 'queue', to_jsonb(new.role)), ('enabled', 'enabled', to_jsonb(new.enabled)),
                   ('interval_hours', 'every', to_jsonb(new.interval_hours * 3600)), ('priority', 'priority', to_jsonb(new.priority))) f(theirs, name, value)
     where f.theirs = any (v_changed);
    v_fields := coalesce(v_fields, '{}');
    if tg_op = 'INSERT' then
        v_fields := v_fields || jsonb_build_object('name', new.name, 'max_attempts', 4, 'starts_at', new.next_run_at) || case
            when new.role in ('payload_fetch', 'product_refresh', 'product_resync') and to_regclass('@schema@.dispensaries') is not null
            then jsonb_build_object('metadata', v_state, 'query',
                'select id::text as key, jsonb_build_object(''state_code'', state) as metadata from @schema@.dispensaries'
                || case when new.state_code is null then '' else format(' where state = %L', new.state_code) end)
            else jsonb_build_object('args', v_state) end;
        v_old := leasehold.create_schedule(v_fields);
    else
        if 'state_code' = any (v_changed) then
            v_old := leasehold.get_schedule(old.name);
            if v_old.query is not null then
                raise exception using errcode = 'LH001', message = format('which stores schedule %L takes stands in its query', old.name),
                    hint = 'leasehold.update_schedule(name, ''{"query": …}'')';
            end if;
            v_fields := v_fields || jsonb_build_object('args', v_old.args - 'state_code' || v_state);
        end if;
        if 'name' = any (v_changed) then
            v_fields := v_fields || jsonb_build_object('name', new.name);
        end if;
        v_old := leasehold.update_schedule(old.name, v_fields);
    end if;
    select * into new from @schema@.task_schedules t where t.id = v_old.id;
    return new;
end
$$;
comment on function @schema@.write_task_schedule() is 'leasehold compat: what is written to task_schedules';
create or replace trigger write_task_schedule instead of insert or update or delete on @schema@.task_schedules
    for each row execute function @schema@.write_task_schedule();
