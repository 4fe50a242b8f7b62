-- Purpose     Report that a worker carried out a command, or could not.
-- Parameters  incarnation: of the worker · command_id · result: what came of it, any JSON · error: why it failed; null: it did not
-- Returns     whether this was the first acknowledgement of a command of this worker
-- Errors      none
-- Tables      worker_commands
create or replace function leasehold.acknowledge_command(incarnation uuid, command_id bigint, result jsonb default null, error text default null)
returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_now timestamptz := leasehold.clock();
begin
    update leasehold.worker_commands c
       set received_at = coalesce(c.received_at, v_now), done_at = v_now, result = acknowledge_command.result, error = acknowledge_command.error
     where c.id = acknowledge_command.command_id and c.incarnation = acknowledge_command.incarnation and c.done_at is null;
    return found;
end
$$;
