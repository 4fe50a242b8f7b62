-- Purpose     Show how many jobs came and how many ended in each minute of the last hours, of some queues, for small charts.
-- Parameters  queues: their names · minutes: how many, 1 to 2880 (they are kept for two days)
-- Returns     queue, starts_at, arrivals, ended; a minute of a queue in which nothing happened is left out · by queue and time
-- Errors      LH001 minutes out of range
-- Tables      rollups (read: the rows of these minutes)
create or replace function leasehold.list_minutes(queues text[], minutes integer default 60)
returns table (queue text, starts_at timestamptz, arrivals bigint, ended bigint) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
declare
    v_since timestamptz := leasehold.clock() - make_interval(mins => list_minutes.minutes);
begin
    if coalesce(list_minutes.minutes, 0) not between 1 and 2880 then
        raise exception using errcode = 'LH001', message = format('minutes must be from 1 to 2880, not %s', coalesce(list_minutes.minutes::text, 'null'));
    end if;
    return query
    select q.name, r.starts_at, r.arrivals, r.completed + r.failed + r.cancelled
      from unnest(list_minutes.queues) q(name)
     cross join lateral (select o.* from leasehold.rollups o where o.queue = q.name and o.starts_at >= v_since) r
     order by 1, 2;
end
$$;
