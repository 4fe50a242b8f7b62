-- Purpose     Wake idle workers for rows that somebody inserts into jobs by hand: the trigger plain_jobs, which fires for the rows
--             of make_plain_job and for no others, when all rows of their statement are there. The first wakes for all.
-- Parameters  none
-- Returns     null
-- Errors      none
-- Tables      as wake_idle_workers
create or replace function leasehold.wake_plain_jobs() returns trigger language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
declare
    v_queues text[] := string_to_array(current_setting('leasehold.filled_queues', true), ',');
begin
    if v_queues <> '{}' then
        perform set_config('leasehold.filled_queues', '', true);
        perform leasehold.wake_idle_workers(v_queues);
    end if;
    return null;
end
$$;
