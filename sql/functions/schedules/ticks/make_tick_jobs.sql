-- Purpose     Put together the jobs of one tick, as enqueue_jobs takes them.
-- Parameters  schedule: the row · tick_at · rows: of its query, null where it has none · starts_at: when the first is to run
--             stagger: seconds over which they are spread · batches: in so many portions; null: each at its own moment
-- Returns     JSON objects, in the order of the rows
-- Errors      none
-- Tables      none
create or replace function leasehold.make_tick_jobs(
    schedule leasehold.schedules, tick_at timestamptz, rows jsonb[], starts_at timestamptz, stagger double precision, batches integer
) returns jsonb[] language sql stable
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' as $$
select coalesce(array_agg(jsonb_build_object(
           'kind', schedule.kind, 'timeout', schedule.timeout,
           'queue', coalesce(nullif(r.doc -> 'queue', 'null'), to_jsonb(schedule.queue)),
           'priority', coalesce(nullif(r.doc -> 'priority', 'null'), to_jsonb(schedule.priority)),
           'key', coalesce(nullif(r.doc -> 'key', 'null'), to_jsonb(schedule.key)),
           'key_group', coalesce(nullif(r.doc -> 'key_group', 'null'), to_jsonb(schedule.key_group)),
           'max_attempts', coalesce(nullif(r.doc -> 'max_attempts', 'null'), to_jsonb(schedule.max_attempts)),
           'delay', r.doc -> 'delay',
           'run_at', case when nullif(r.doc -> 'run_at', 'null') is not null then r.doc -> 'run_at'
                          when nullif(r.doc -> 'delay', 'null') is not null then null
                          else to_jsonb(starts_at + make_interval(secs => stagger * r.share)) end,
           'args', schedule.args || (r.doc - '{key,key_group,priority,queue,run_at,delay,max_attempts,metadata,args}'::text[])
                   || coalesce(nullif(r.doc -> 'args', 'null'), '{}'),
           'metadata', coalesce(schedule.metadata, '{}') || coalesce(nullif(r.doc -> 'metadata', 'null'), '{}')
                       || jsonb_build_object('schedule', schedule.name, 'tick', tick_at))
       order by r.position), '{}')
  from (select u.doc, u.position, case when batches is null then (u.position - 1)::double precision / count(*) over ()
                                       else floor((u.position - 1) * batches::double precision / count(*) over ()) / batches end as share
          from unnest(coalesce(rows, '{"{}"}')) with ordinality u(doc, position)) r
$$;
