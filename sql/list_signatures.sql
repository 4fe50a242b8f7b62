-- Every function of the schema leasehold as its callers see it, a line each: NAME(PARAMETER TYPE, PARAMETER TYPE =) -> setof (COLUMN TYPE).
-- An equals sign stands behind a parameter that has a default. The search path must be pg_catalog.
select p.proname || '(' || coalesce((
           select string_agg(p.proargnames[a.n] || ' ' || format_type(a.type, null) || case when a.n > p.pronargs - p.pronargdefaults then ' =' else '' end,
                             ', ' order by a.n)
             from unnest(p.proargtypes::oid[]) with ordinality a(type, n)), '') || ') -> '
       || case when p.proretset then 'setof ' else '' end
       || coalesce((
           select '(' || string_agg(p.proargnames[a.n] || ' ' || format_type(a.type, null), ', ' order by a.n) || ')'
             from unnest(p.proallargtypes) with ordinality a(type, n) where p.proargmodes[a.n] in ('t', 'o')), (
           select '(' || string_agg(a.attname || ' ' || format_type(a.atttypid, null), ', ' order by a.attnum) || ')'
             from pg_type t join pg_attribute a on a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
            where t.oid = p.prorettype and t.typrelid <> 0), format_type(p.prorettype, null)) as signature
  from pg_proc p
 where p.pronamespace = 'leasehold'::regnamespace
 order by 1
