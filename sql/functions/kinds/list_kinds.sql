-- Purpose     List the kinds that apps have declared: what enqueueing gives to their jobs, and where versions disagree.
-- Parameters  kind: only this one; null: all
-- Returns     by name: what the newest version says (see declare_kinds; null: nothing), which app and version that is and when it was last
--             declared; conflicts: an array with an object for each other version that says something else: app, app_version, declared_at,
--             fields (in which they differ), workers (how many live ones run it)
--             workers: how many live ones serve the kind, of any version; 0: drop_kind takes it away if no job needs it
-- Errors      none
-- Tables      kinds, kind_versions, workers (read)
create or replace function leasehold.list_kinds(kind text default null) returns table (
    kind text, queue text, priority integer, max_attempts integer, timeout double precision, deadline double precision, retry jsonb, "unique" jsonb,
    key text, key_group text, checks_args boolean, args_schema jsonb, output_schema jsonb, app text, app_version text, declared_at timestamptz, conflicts jsonb,
    workers bigint
) language sql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
select k.kind, k.definition ->> 'queue', (k.definition ->> 'priority')::integer, (k.definition ->> 'max_attempts')::integer,
       (k.definition ->> 'timeout')::double precision, (k.definition ->> 'deadline')::double precision, k.definition -> 'retry', k.definition -> 'unique',
       k.key, k.key_group, k.checks_args, k.definition -> 'args_schema', k.definition -> 'output_schema',
       nullif(k.app, ''), nullif(k.app_version, ''), k.declared_at,
       coalesce((select jsonb_agg(jsonb_build_object('app', nullif(v.app, ''), 'app_version', nullif(v.app_version, ''), 'declared_at', v.declared_at,
                        'fields', array(select coalesce(a.key, b.key) from jsonb_each(v.definition) a full join jsonb_each(k.definition) b on a.key = b.key
                                         where a.value is distinct from b.value order by 1),
                        'workers', (select count(*) from leasehold.workers w cross join (select leasehold.clock() as now) t
                                     where coalesce(w.app_version, '') = v.app_version and (w.kinds = '{}' or v.kind = any (w.kinds))
                                       and leasehold.is_alive(w, t.now)))
                        order by v.newest_at desc, v.app, v.app_version)
                   from leasehold.kind_versions v
                  where v.kind = k.kind and (v.app, v.app_version) <> (k.app, k.app_version) and v.definition <> k.definition), '[]'),
       (select count(*) from leasehold.workers w cross join (select leasehold.clock() as now) t
         where (k.kind = any (w.kinds) or w.kinds = '{}' and coalesce(w.app_version, '') = k.app_version)
           and leasehold.is_alive(w, t.now))
  from leasehold.kinds k
 where list_kinds.kind is null or k.kind = list_kinds.kind
 order by k.kind
$$;
