-- Purpose     Make a schedule. A scheduler plans its first tick at once, or as soon as one runs.
-- Parameters  definition: JSON object with
--             name, kind: required · description, enabled (true) · of the jobs: queue, args, priority, key, key_group, max_attempts,
--             timeout (seconds), metadata (queue and priority are else those of the kind, where list_kinds tells them)
--             when: exactly one of every (seconds, or an interval such as PT5M), cron (five fields,
--             six with the seconds first, or @daily and the like) and at (a time; without an offset it is in UTC); zone (UTC), starts_at, ends_at
--             · how many: query (one SELECT: a job for each row, its columns are args, and the columns key,
--             key_group, priority, queue, run_at, delay, max_attempts, metadata and args what they are of a job), query_timeout
--             (30 seconds), query_rows (10000 at the most); stagger (seconds over which the jobs of a tick are spread), batches
--             (in so many portions) · what if: missed (coalesce, skip, catch_up), grace (60 seconds: later is missed),
--             catch_up_limit (100), overlap (allow, skip)
--             actor: who makes it; null: the session's user
-- Returns     the row
-- Errors      LH001 it is refused: the message says why · LH004 there is a schedule of this name
-- Tables      kinds (read), an advisory lock of the name, schedules (insert), those of its query (planned only)
create or replace function leasehold.create_schedule(definition jsonb, actor text default null) returns leasehold.schedules language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_full jsonb := leasehold.complete_schedule(create_schedule.definition);
    v_kind jsonb := (select jsonb_object_agg(f.key, f.value) from leasehold.kinds k cross join lateral jsonb_each(k.defaults) f
                      where k.kind = v_full ->> 'kind' and f.key in ('queue', 'priority') and nullif(create_schedule.definition -> f.key, 'null') is null);
begin
    perform pg_advisory_xact_lock(hashtextextended('leasehold schedule ' || (v_full ->> 'name'), 0));
    if exists (select from leasehold.schedules s where s.name = v_full ->> 'name') then
        raise exception using errcode = 'LH004', message = format('there is a schedule %L already', v_full ->> 'name'), hint = 'update_schedule changes it';
    end if;
    return leasehold.set_schedule(v_full || coalesce(v_kind, '{}'), null, '{}', create_schedule.actor);
end
$$;
