-- Every function, whose rights it has, and which of the roles $1 may call it.
select p.proname::text as name, p.prosecdef as as_owner, o.rolname::text as owner,
       array(select r.rolname::text from pg_catalog.pg_roles r
              where r.rolname = any ($1) and pg_catalog.has_function_privilege(r.oid, p.oid, 'execute')) as roles,
       exists (select from pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) a where a.grantee = 0) as is_public
  from pg_catalog.pg_proc p join pg_catalog.pg_roles o on o.oid = p.proowner
 where p.pronamespace = 'leasehold'::regnamespace order by 1
