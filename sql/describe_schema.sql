-- Everything in the schema leasehold that makes a difference, one row each. Partitions of single days are left out, for
-- they come and go, and so is what partitions inherit. The search path must be pg_catalog, so that names come out whole.
with relations as (
    select c.oid, c.relname::text as name, c.relkind, c.reloptions, c.relrowsecurity
      from pg_class c
     where c.relnamespace = 'leasehold'::regnamespace
       and (not c.relispartition or pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT')
)
select case relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end as kind, name,
       concat_ws(' ',
           case when relkind = 'p' then 'partition by ' || pg_get_partkeydef(oid) end,
           case when relrowsecurity then 'row level security' end,
           'with (' || array_to_string(array(select unnest(reloptions) order by 1), ', ') || ')',
           case when relkind = 'v' then pg_get_viewdef(oid) end) as definition
  from relations
 where relkind in ('r', 'p', 'v', 'S')
union all
select 'column', r.name || '.' || a.attname,
       concat_ws(' ',
           format_type(a.atttypid, a.atttypmod),
           case when a.attcollation <> t.typcollation then 'collate ' || a.attcollation::regcollation end,
           case when a.attnotnull then 'not null' end,
           case a.attidentity when 'd' then 'identity by default' when 'a' then 'identity always' end,
           case when a.attgenerated <> '' then 'generated' end,
           'default ' || pg_get_expr(d.adbin, d.adrelid))
  from relations r
  join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
 where r.relkind in ('r', 'p', 'v')
union all
select 'constraint', r.name || '.' || o.conname, pg_get_constraintdef(o.oid) || case when o.convalidated then '' else ' not valid' end
  from relations r
  join pg_constraint o on o.conrelid = r.oid and o.contype <> 'n' and o.conparentid = 0
union all
select 'index', r.name || '.' || i.relname, pg_get_indexdef(x.indexrelid) || case when x.indisvalid then '' else ' invalid' end
  from relations r
  join pg_index x on x.indrelid = r.oid
  join pg_class i on i.oid = x.indexrelid
 where r.relkind in ('r', 'p') and not i.relispartition
union all
select 'trigger', r.name || '.' || g.tgname, pg_get_triggerdef(g.oid) || case when g.tgenabled = 'O' then '' else ' enabled ' || g.tgenabled::text end
  from relations r
  join pg_trigger g on g.tgrelid = r.oid and not g.tgisinternal and g.tgparentid = 0
union all
select 'rule', r.name || '.' || w.rulename, pg_get_ruledef(w.oid)
  from relations r
  join pg_rewrite w on w.ev_class = r.oid and w.rulename <> '_RETURN'
union all
select 'policy', r.name || '.' || p.polname, concat_ws(' ', p.polcmd::text, pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
  from relations r
  join pg_policy p on p.polrelid = r.oid
union all
select 'function', p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')',
       concat_ws(' ',
           'returns ' || pg_get_function_result(p.oid),
           'defaults (' || pg_get_expr(p.proargdefaults, 0) || ')',
           'language ' || l.lanname,
           case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
           case when p.proisstrict then 'strict' end,
           -- Where the roles of `leasehold grants` are in force, many are; those have a check of their own.
           case when p.prosecdef
                 and not exists (select from pg_namespace n join pg_roles o on o.oid = n.nspowner
                                   join pg_roles r on r.rolname = left(o.rolname, -5) || 'producer'
                                  where n.nspname = 'leasehold' and o.rolname like '%owner')
                then 'security definer' end,
           case when p.proleakproof then 'leakproof' end,
           'parallel ' || p.proparallel::text,
           'set (' || array_to_string(array(select unnest(p.proconfig) order by 1), '; ') || ')',
           'body ' || left(encode(sha256(convert_to(p.prosrc, 'UTF8')), 'hex'), 16))
  from pg_proc p
  join pg_language l on l.oid = p.prolang
 where p.pronamespace = 'leasehold'::regnamespace
union all
select 'type', t.typname::text,
       case t.typtype when 'e' then 'enum (' || array_to_string(array(select e.enumlabel::text from pg_enum e where e.enumtypid = t.oid order by e.enumsortorder), ', ') || ')'
                      when 'd' then 'domain ' || format_type(t.typbasetype, t.typtypmod)
                      else 'composite' end
  from pg_type t
  left join pg_class c on c.oid = t.typrelid
 where t.typnamespace = 'leasehold'::regnamespace and (t.typtype in ('e', 'd') or c.relkind = 'c')
