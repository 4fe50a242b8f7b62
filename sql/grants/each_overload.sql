do $do$
declare
    v_function text;
begin
    for v_function in
        select p.oid::regprocedure::text from pg_catalog.pg_proc p
         where p.pronamespace = 'leasehold'::regnamespace and regexp_replace(p.proname, '_aside_\d+$', '') = any ('{@names@}') order by 1
    loop
        execute format('@statement@', v_function);
    end loop;
end
$do$;
