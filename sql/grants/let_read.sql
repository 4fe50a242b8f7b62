do $$
declare
    v_table record;
begin
    for v_table in
        select c.oid::regclass::text as name, bool_or(s.name is not null) as has_secrets,
               string_agg(quote_ident(a.attname), ', ' order by a.attnum) filter (where s.name is null) as columns
          from pg_catalog.pg_class c
          join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
          left join (values @secrets@) s(name, attribute) on s.name = c.relname and s.attribute = a.attname
         where c.relnamespace = 'leasehold'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
         group by c.oid
    loop
        execute format(case when v_table.has_secrets then 'grant select (%2$s) on %1$s to @prefix@reader'
                            else 'grant select on %1$s to @prefix@reader' end, v_table.name, v_table.columns);
    end loop;
    for v_table in select c.oid::regclass::text as name from pg_catalog.pg_class c
                    where c.relnamespace = 'leasehold'::regnamespace and c.relname = any ('{@views@}') loop
        execute format('grant select on %s to @prefix@scaler', v_table.name);
    end loop;
end
$$;
