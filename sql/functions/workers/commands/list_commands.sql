-- Purpose     List the commands that a worker got, newest first.
-- Parameters  worker: as find_worker · before_id: only older ids (the last one of the call before) · page_size: 1 to 1000
-- Returns     rows of all_commands
-- Errors      LH001 page_size out of range, or as find_worker · LH002 as find_worker
-- Tables      worker_commands, workers (read)
create or replace function leasehold.list_commands(worker text, before_id bigint default null, page_size integer default 50)
returns setof leasehold.all_commands language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_incarnation uuid;
begin
    if coalesce(list_commands.page_size, 0) not between 1 and 1000 then
        raise exception using errcode = 'LH001', message = format('page_size must be from 1 to 1000, not %s', coalesce(list_commands.page_size::text, 'null'));
    end if;
    v_incarnation := leasehold.find_worker(list_commands.worker);
    return query select * from leasehold.all_commands c
                  where c.incarnation = v_incarnation and (list_commands.before_id is null or c.id < list_commands.before_id)
                  order by c.id desc limit list_commands.page_size;
end
$$;
