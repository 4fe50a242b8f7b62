-- Purpose     Read the system identifier of the server, which every initdb draws anew and every physical copy keeps.
-- Parameters  none
-- Returns     it; null where Postgres does not tell
-- Errors      none
-- Tables      none (the control file)
create or replace function leasehold.read_system() returns bigint language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
begin
    return (select c.system_identifier from pg_control_system() c);
exception when feature_not_supported or insufficient_privilege or undefined_function then
    return null;
end
$$;
