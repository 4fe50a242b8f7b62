-- Whoever has owned the schema until now goes on: as a member of the new owner.
do $$
declare
    v_former text := (select pg_catalog.pg_get_userbyid(nspowner) from pg_catalog.pg_namespace where nspname = 'leasehold');
begin
    if v_former <> '@owner@' and not (select rolsuper from pg_catalog.pg_roles where rolname = v_former) then
        execute format('grant @owner@ to %I', v_former);
    end if;
end
$$;
alter schema leasehold owner to @owner@;
