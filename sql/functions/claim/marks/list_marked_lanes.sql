-- Purpose     List the lanes that have jobs, as find_lanes does, while lanes have marks: of a lane with marks it reads no
--             index entries behind them, and between these lanes it skips from one lane to the next.
-- Parameters  queue: of this one alone; null: of all · most: how many lanes
-- Returns     the lanes, in the order of the index; last a row of nulls if four times as many were looked at and there may be more
-- Errors      none
-- Tables      lane_marks, jobs (read)
create or replace function leasehold.list_marked_lanes(queue text, most integer) returns table (queue_name text, kind text, class integer) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    c_last constant text := repeat(chr(1114111), 50);  -- behind every name
begin
    return query
    with recursive lane(queue, kind, class, is_marked, number) as (
        select coalesce(list_marked_lanes.queue, '') collate "C", '' collate "C", -1, null::boolean, 0
        union all
        select n.queue, n.kind, n.class, n.is_marked, l.number + 1 from lane l
          left join lateral (select m.queue, m.kind, m.class from leasehold.lane_marks m
                              where (m.queue, m.kind, m.class) > (l.queue, l.kind, l.class)
                                and m.queue <= coalesce(list_marked_lanes.queue, c_last)
                              order by m.queue, m.kind, m.class limit 1) m on true
         cross join lateral (
               (select j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group) as class, false as is_marked
                  from leasehold.jobs j
                 where j.state = 'pending'
                   and (j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group)) > (l.queue, l.kind, l.class)
                   and (j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group))
                       < (coalesce(m.queue, list_marked_lanes.queue, c_last) collate "C", coalesce(m.kind, c_last) collate "C", coalesce(m.class, 9))
                 order by j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group) limit 1)
               union all
               (select m.queue, m.kind, m.class, true where m.queue is not null)
               limit 1) n
         where l.number < 4 * list_marked_lanes.most
    )
    (select l.queue, l.kind, l.class from lane l
      where not l.is_marked
         or l.is_marked and exists (select from leasehold.list_marked_jobs(l.queue, l.kind, l.class, 1, null, false))
      limit list_marked_lanes.most)
    union all
    select null, null, null where (select max(l.number) from lane l) = 4 * list_marked_lanes.most;
end
$$;
