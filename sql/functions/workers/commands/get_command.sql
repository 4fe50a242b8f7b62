-- Purpose     Show one command and how it stands.
-- Parameters  command_id
-- Returns     a row of all_commands, or none
-- Errors      none
-- Tables      worker_commands, workers (read)
create or replace function leasehold.get_command(command_id bigint) returns setof leasehold.all_commands language sql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
select * from leasehold.all_commands c where c.id = get_command.command_id
$$;
