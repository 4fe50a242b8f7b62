-- Purpose     List the queues whose attempts take much longer than shortly before, those that are slower by most first: what they depend on may
--             be slow. It reads rollups only, `minutes` and `before` of them for each queue.
-- Parameters  minutes: the last ones, 1 to 1440 · before: compared with so many before them, 1 to 1440 · factor: so many times as long is much,
--             above 1 · fewest: of fewer attempts than this nothing is said, 1 or more · margin: of less difference in seconds than this, neither
-- Returns     queue · average_run, usual_run: how long attempts took in the last minutes, and before, in seconds
--             ended, usually_ended: how many attempts these are of · since, until: what the last minutes are
-- Errors      LH001 a parameter out of range
-- Tables      rollups, rollup_progress (read)
create or replace function leasehold.list_slow_queues(
    minutes integer default 10, before integer default 120, factor double precision default 3, fewest integer default 10, margin double precision default 1
) returns table (queue text, average_run double precision, usual_run double precision, ended bigint, usually_ended bigint, since timestamptz,
                 until timestamptz) language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off as $$
#variable_conflict use_column
begin
    if coalesce(list_slow_queues.minutes, 0) not between 1 and 1440 or coalesce(list_slow_queues.before, 0) not between 1 and 1440 then
        raise exception using errcode = 'LH001', message = 'minutes and before must be from 1 to 1440';
    elsif (list_slow_queues.factor > 1 and list_slow_queues.fewest >= 1 and list_slow_queues.margin >= 0) is not true then
        raise exception using errcode = 'LH001', message = 'factor must be above 1, fewest 1 or more, margin 0 or more';
    end if;
    return query
    with times as (
        select p.rolled_until as until, p.rolled_until - make_interval(mins => list_slow_queues.minutes) as since from leasehold.rollup_progress p
    ), booked as (
        select r.queue, t.since, t.until, r.starts_at >= t.since as is_now, r.run_seconds, r.completed + r.failed + r.retries as ended
          from times t
          join leasehold.rollups r on r.starts_at >= t.since - make_interval(mins => list_slow_queues.before) and r.starts_at < t.until
    ), summed as (
        select b.queue, b.since, b.until, sum(b.run_seconds) filter (where b.is_now) as run, sum(b.ended) filter (where b.is_now)::bigint as ended,
               sum(b.run_seconds) filter (where not b.is_now) as usual, sum(b.ended) filter (where not b.is_now)::bigint as usually_ended
          from booked b group by b.queue, b.since, b.until
    ), compared as (
        select s.queue, s.run / s.ended as average_run, s.usual / s.usually_ended as usual_run, s.ended, s.usually_ended, s.since, s.until
          from summed s where s.ended >= list_slow_queues.fewest and s.usually_ended >= list_slow_queues.fewest
    )
    select c.* from compared c
     where c.average_run >= c.usual_run * list_slow_queues.factor and c.average_run - c.usual_run >= list_slow_queues.margin
     order by c.average_run - c.usual_run desc, c.queue;
end
$$;
