select left(o.rolname, -5)::text as prefix from pg_catalog.pg_namespace n join pg_catalog.pg_roles o on o.oid = n.nspowner
 where n.nspname = 'leasehold' and o.rolname like '%owner'
   and exists (select from pg_catalog.pg_roles p where p.rolname = left(o.rolname, -5) || 'producer')
