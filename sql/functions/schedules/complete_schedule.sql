-- Purpose     Fill in the definition of a schedule: what is missing or null gets its default, and an interval becomes
--             seconds.
-- Parameters  definition: as create_schedule
-- Returns     a JSON object, which refuse_schedule has still to look at
-- Errors      LH001 it is no object, or `every` is no interval
-- Tables      none
create or replace function leasehold.complete_schedule(definition jsonb) returns jsonb language plpgsql immutable
set search_path = leasehold, pg_catalog, pg_temp set intervalstyle = 'iso_8601' as $$
declare
    v_every interval;
    v_full  jsonb;
begin
    if jsonb_typeof(complete_schedule.definition) is distinct from 'object' then
        raise exception using errcode = 'LH001', message = 'a schedule must be a JSON object',
            hint = 'select leasehold.create_schedule(''{"name": "hourly", "kind": "echo", "cron": "@hourly"}'')';
    end if;
    select '{"description": null, "enabled": true, "kind": null, "queue": "default", "args": {}, "priority": 0, "key": null, "key_group": null,
             "max_attempts": null, "timeout": null, "metadata": null, "every": null, "cron": null, "at": null, "zone": "UTC", "query": null,
             "query_timeout": 30, "query_rows": 10000, "stagger": 0, "batches": null, "missed": "coalesce", "grace": 60, "catch_up_limit": 100,
             "overlap": "allow", "starts_at": null, "ends_at": null}'::jsonb
           || coalesce(jsonb_object_agg(d.key, d.value) filter (where d.value <> 'null'), '{}')
      into v_full from jsonb_each(complete_schedule.definition) d;
    if jsonb_typeof(v_full -> 'every') = 'string' then
        begin
            v_every := (v_full ->> 'every')::interval;
        exception when data_exception then
            raise exception using errcode = 'LH001', message = format('every must be seconds or an interval such as PT5M, not %L', v_full ->> 'every');
        end;
        if extract(year from v_every) <> 0 or extract(month from v_every) <> 0 then
            raise exception using errcode = 'LH001', message = format('every must not count in months, whose length varies, not %L', v_full ->> 'every'),
                hint = 'use cron, such as "0 6 1 * *"';
        end if;
        v_full := v_full || jsonb_build_object('every', extract(epoch from v_every));
    end if;
    return v_full;
end
$$;
