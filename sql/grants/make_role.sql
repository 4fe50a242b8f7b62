do $$ begin if not exists (select from pg_catalog.pg_roles where rolname = '@role@') then create role @role@ nologin; end if; end $$;
comment on role @role@ is 'leasehold: @purpose@';
