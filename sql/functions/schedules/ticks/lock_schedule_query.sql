-- Purpose     Prepare a transaction for the query of a schedule: make it read only, give its statements a timeout,
--             and keep other schedulers from running the query until the transaction ends.
-- Parameters  schedule_id · expected: the next_run_at that the scheduler found · seconds: that a statement may take
-- Returns     whether to run it; false: somebody else is at it, or has been
-- Errors      none
-- Tables      an advisory lock of the schedule (only tried), schedules (read)
create or replace function leasehold.lock_schedule_query(schedule_id bigint, expected timestamptz, seconds double precision)
returns boolean language plpgsql volatile
set search_path = leasehold, pg_catalog, pg_temp as $$
begin
    perform set_config('transaction_read_only', 'on', true);
    perform set_config('statement_timeout', greatest(1, round(seconds * 1000))::bigint::text, true);
    return pg_try_advisory_xact_lock(hashtextextended('leasehold schedule query', schedule_id))
       and exists (select from leasehold.schedules s where s.id = lock_schedule_query.schedule_id and s.next_run_at = lock_schedule_query.expected);
end
$$;
