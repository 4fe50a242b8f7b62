-- Purpose     Remove ticks that were dealt with more than `keep_days` ago.
-- Parameters  keep_days: at least 1 · batch: how many at the most
-- Returns     how many were forgotten
-- Errors      LH001 keep_days out of range
-- Tables      schedule_ticks (rows deleted, locked ones skipped)
create or replace function leasehold.drop_old_ticks(keep_days integer, batch integer default 10000) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set timezone = 'UTC' set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
declare
    v_until   timestamptz := leasehold.clock()::date - least(drop_old_ticks.keep_days, 36500);
    v_dropped integer;
begin
    if drop_old_ticks.keep_days is null or drop_old_ticks.keep_days < 1 then
        raise exception using errcode = 'LH001', message = format('keep_days must be 1 or more, not %s', coalesce(drop_old_ticks.keep_days::text, 'null'));
    end if;
    -- An array: a subquery might be run once for each tick there is, and take a batch each time.
    delete from leasehold.schedule_ticks t
     where t.id = any (array(select o.id from leasehold.schedule_ticks o
                              where o.fired_at < v_until order by o.fired_at limit drop_old_ticks.batch for update skip locked));
    get diagnostics v_dropped = row_count;
    return v_dropped;
end
$$;
