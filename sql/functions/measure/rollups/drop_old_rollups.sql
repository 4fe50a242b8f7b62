-- Purpose     Merge the minutes of whole hours that are older than two days into hours, and remove hours that are
--             older than `keep_days`.
-- Parameters  keep_days: at least 2
-- Returns     how many hours were made, all queues counted; null where somebody else is at it
-- Errors      LH001 keep_days out of range
-- Tables      an advisory lock, rollups
create or replace function leasehold.drop_old_rollups(keep_days integer) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp as $$
#variable_conflict use_column
declare
    v_until timestamptz := date_bin('1 hour', leasehold.clock() - interval '2 days', 'epoch');
    v_made  integer;
begin
    if coalesce(drop_old_rollups.keep_days, 0) < 2 then
        raise exception using errcode = 'LH001', message = format('keep_days must be 2 or more, not %s', coalesce(keep_days::text, 'null'));
    end if;
    if not pg_try_advisory_xact_lock(hashtextextended('leasehold accountant', 0)) then
        return null;
    end if;
    delete from leasehold.rollups r where r.starts_at < v_until - make_interval(days => least(drop_old_rollups.keep_days, 36500) - 2);
    with minutes as (
        delete from leasehold.rollups r where r.starts_at < v_until and r.seconds = 60 returning r.*
    )
    insert into leasehold.rollups (starts_at, seconds, queue, arrivals, starts, completed, failed, cancelled, retries, wait_seconds, run_seconds,
           run_squares, waits, runs, last_completed_at)
    select date_bin('1 hour', m.starts_at, 'epoch'), 3600, m.queue, sum(m.arrivals), sum(m.starts), sum(m.completed), sum(m.failed), sum(m.cancelled),
           sum(m.retries), sum(m.wait_seconds), sum(m.run_seconds), sum(m.run_squares), leasehold.add_histograms(array_agg(m.waits)),
           leasehold.add_histograms(array_agg(m.runs)), max(m.last_completed_at)
      from minutes m group by 1, m.queue;
    get diagnostics v_made = row_count;
    return v_made;
end
$$;
