-- Purpose     Make known what an app says of its kinds, all of them in one transaction. Workers call it when they start, and
--             `leasehold kinds sync`. Where versions disagree, the one that said something new last wins.
-- Parameters  kinds: JSON array of objects with kind and, where it has one, queue, priority, max_attempts, timeout and deadline
--                   (seconds), retry (initial, multiplier, cap, step), unique (as claim_unique_jobs), key and key_group (where in the args
--                   they are, such as "args.order_id"), args_schema and output_schema (JSON Schemas), checks_args (false: args are
--                   not held against the schema) · app: which app says so, such as shop:app · app_version: of its code
--             is_newest: have this version win, also where it was declared before, as after a rollback
-- Returns     for each kind whether it was created, changed or unchanged in the catalogue; older: another version wins
-- Errors      LH001 a kind is refused: the message says which one and why; then nothing is changed
-- Tables      an advisory lock, kind_versions and kinds (insert, update), workers (read)
create or replace function leasehold.declare_kinds(kinds jsonb, app text default '', app_version text default '', is_newest boolean default false)
returns table (kind text, outcome text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off as $$
#variable_conflict use_column
declare
    v_now       timestamptz := leasehold.clock();
    v_app       text := coalesce(declare_kinds.app, '');
    v_version   text := coalesce(declare_kinds.app_version, '');
    v_complaint text;
begin
    if jsonb_typeof(declare_kinds.kinds) is distinct from 'array' then
        raise exception using errcode = 'LH001', message = 'kinds must be a JSON array of objects';
    end if;
    select leasehold.refuse_kind(w.doc) into v_complaint from jsonb_array_elements(declare_kinds.kinds) with ordinality w(doc, position)
     where leasehold.refuse_kind(w.doc) is not null order by w.position limit 1;
    v_complaint := coalesce(v_complaint, (select format('kind %s is there twice', w.doc ->> 'kind') from jsonb_array_elements(declare_kinds.kinds) w(doc)
                                           group by w.doc ->> 'kind' having count(*) > 1 limit 1));
    if v_complaint is not null then
        raise exception using errcode = 'LH001', message = v_complaint, hint = 'nothing was changed';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('leasehold kinds', 0));

    insert into leasehold.kind_versions as v (kind, app, app_version, newest_at, declared_at, definition)
    select w.doc ->> 'kind', v_app, v_version, v_now, v_now, coalesce((select jsonb_object_agg(f.key, f.value) from jsonb_each(w.doc) f
            where f.value <> 'null' and f.key <> 'kind'), '{}')
      from jsonb_array_elements(declare_kinds.kinds) w(doc)
    on conflict on constraint kind_versions_pkey do update
       set newest_at = case when declare_kinds.is_newest or v.definition <> excluded.definition then excluded.newest_at else v.newest_at end,
           declared_at = excluded.declared_at, definition = excluded.definition;
    -- A version that nobody runs any more has no say in what another one declares.
    delete from leasehold.kind_versions v
     where v.declared_at < v_now - interval '1 hour'
       and v.kind in (select w.doc ->> 'kind' from jsonb_array_elements(declare_kinds.kinds) w(doc))
       and not exists (select from leasehold.workers w where coalesce(w.app_version, '') = v.app_version and v.kind = any (w.kinds) and leasehold.is_alive(w, v_now));

    return query
    with newest as materialized (
        select distinct on (v.kind) v.kind, v.app, v.app_version, v.declared_at, v.definition as d
          from leasehold.kind_versions v
         where v.kind in (select w.doc ->> 'kind' from jsonb_array_elements(declare_kinds.kinds) w(doc))
         order by v.kind, v.newest_at desc, v.declared_at desc, v.app_version desc, v.app desc
    ), written as (
        insert into leasehold.kinds as k (declared_at, fills, checks_args, kind, app, app_version, key, key_group, defaults, easy_names, easy_args, definition)
        select n.declared_at, n.d ?| '{queue,priority,max_attempts,unique,deadline,key,key_group}',
               n.d ? 'args_schema' and coalesce((n.d ->> 'checks_args')::boolean, true), n.kind, n.app, n.app_version, n.d ->> 'key', n.d ->> 'key_group',
               (select coalesce(jsonb_object_agg(f.key, case f.key when 'deadline' then to_jsonb('PT' || (f.value ->> 0)::numeric || 'S') else f.value end), '{}')
                  from jsonb_each(n.d) f where f.key in ('queue', 'priority', 'max_attempts', 'unique', 'deadline')),
               e.names, e.path, n.d
          from newest n left join leasehold.make_easy_args(n.d -> 'args_schema') e on true
        on conflict on constraint kinds_pkey do update
           set (declared_at, fills, checks_args, app, app_version, key, key_group, defaults, easy_names, easy_args, definition)
             = (excluded.declared_at, excluded.fills, excluded.checks_args, excluded.app, excluded.app_version, excluded.key, excluded.key_group,
                excluded.defaults, excluded.easy_names, excluded.easy_args, excluded.definition)
         where k.declared_at < v_now - interval '5 minutes'
            or (k.app, k.app_version, k.definition) is distinct from (excluded.app, excluded.app_version, excluded.definition)
    )
    select n.kind, case when (n.app, n.app_version) <> (v_app, v_version) then 'older'
                        when o.kind is null then 'created'
                        when (o.app, o.app_version, o.definition) = (n.app, n.app_version, n.d) then 'unchanged'
                        else 'changed' end
      from newest n
      join jsonb_array_elements(declare_kinds.kinds) with ordinality w(doc, position) on w.doc ->> 'kind' = n.kind
      left join leasehold.kinds o on o.kind = n.kind
     order by w.position;
end
$$;
