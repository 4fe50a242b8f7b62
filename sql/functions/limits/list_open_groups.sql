-- Purpose     List the lanes of a queue whose groups have limits, in the order of their turns: one lane for each key
--             group and kind with pending jobs and room under its limit, and the lanes of the jobs without a group.
--             It skips through an index from group to group, so a group costs the same with one pending job as with a
--             million. Groups that are full are passed over. It looks at a limited number of groups; the next call
--             goes on behind them.
-- Parameters  queue · kinds, classes: its lanes · wanted: how many jobs
-- Returns     position: of the turn · kind, class, key_group: the lane, as in limit_lanes · held: jobs of the group that
--             are held · room: how many more may be, and may start · last: of all groups looked at, for all rows the same;
--             where no group is open, a row with nothing else
-- Errors      none
-- Tables      limits, rate_buckets, limit_turns, jobs (read)
create or replace function leasehold.list_open_groups(queue text, kinds text[], classes integer[], wanted integer)
returns table ("position" bigint, kind text, class integer, key_group text, held integer, room integer, last text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_now  timestamptz := leasehold.clock();
    v_each leasehold.limits;
    v_turn text := coalesce((select t.key_group from leasehold.limit_turns t where t.queue = list_open_groups.queue), '');
    v_most integer := least(1000, 200 + 2 * list_open_groups.wanted);
    v_any  boolean := exists (select from leasehold.limits l where l.queue = list_open_groups.queue and l.key_group > '' and l.key_group <> '*');
begin
    select l.* into v_each from leasehold.limits l where l.queue = list_open_groups.queue and l.key_group = '*';
    return query
    with recursive walk(lap, key_group, kind) as (
        (select f.lap, f.key_group, f.kind
           from ((select 0 as lap, j.key_group, j.kind from leasehold.jobs j
                   where j.state = 'pending' and j.key_group is not null and j.crashes is null and j.queue = list_open_groups.queue and j.key_group > v_turn
                   order by j.key_group, j.kind limit 1)
                 union all
                 (select 1, j.key_group, j.kind from leasehold.jobs j
                   where j.state = 'pending' and j.key_group is not null and j.crashes is null and j.queue = list_open_groups.queue
                   order by j.key_group, j.kind limit 1)) f limit 1)
        union all
        select n.lap, n.key_group, n.kind from walk w
         cross join lateral (
               select f.lap, f.key_group, f.kind
                 from ((select w.lap as lap, j.key_group, j.kind from leasehold.jobs j
                         where j.state = 'pending' and j.key_group is not null and j.crashes is null and j.queue = list_open_groups.queue
                           and (j.key_group, j.kind) > (w.key_group, w.kind)
                         order by j.key_group, j.kind limit 1)
                       union all
                       (select 1, j.key_group, j.kind from leasehold.jobs j
                         where w.lap = 0 and j.state = 'pending' and j.key_group is not null and j.crashes is null and j.queue = list_open_groups.queue
                         order by j.key_group, j.kind limit 1)) f limit 1) n
         where n.lap = 0 or n.key_group <= v_turn
    ), visited as materialized (
        select w.lap, w.key_group, w.kind from walk w where 1 = any (list_open_groups.classes) limit v_most
    ), lane as (
        select v.lap, v.key_group as turn, v.kind, null::integer as class, v.key_group, h.held,
               least(list_open_groups.wanted, m.max_running - h.held,
                     case when m.rate is not null then floor(leasehold.bucket_level(b.tokens, b.filled_at, m.rate, m.burst, v_now) + 0.000001) end)::integer as room
          from visited v
         cross join lateral (select count(*)::integer as held from leasehold.jobs j
                              where j.queue = list_open_groups.queue and j.key_group = v.key_group and j.limited and j.incarnation is not null) h
          left join lateral (select l.key_group, l.max_running, l.rate, l.burst from leasehold.limits l
                              where v_any and l.queue = list_open_groups.queue and l.key_group = v.key_group) n on true
         cross join lateral (select case when n.key_group is null then v_each.max_running else n.max_running end as max_running,
                                    case when n.key_group is null then v_each.rate else n.rate end as rate,
                                    case when n.key_group is null then v_each.burst else n.burst end as burst) m
          left join lateral (select c.tokens, c.filled_at from leasehold.rate_buckets c
                              where m.rate is not null and c.queue = list_open_groups.queue and c.key_group = v.key_group) b on true
         where v.kind = any (list_open_groups.kinds)
        union all
        select 1, '', l.kind, 0, null, h.held, list_open_groups.wanted
          from unnest(list_open_groups.kinds, list_open_groups.classes) l(kind, class)
         cross join lateral (select count(*)::integer as held from leasehold.jobs j
                              where j.queue = list_open_groups.queue and j.key_group is null and j.limited and j.incarnation is not null) h
         where l.class = 0
    )
    select row_number() over (order by o.lap, o.turn, o.kind), o.kind, o.class, o.key_group, o.held, o.room, e.last
      from (select (array_agg(v.key_group order by v.lap desc, v.key_group desc))[1] as last from visited v) e
      left join lane o on o.room > 0;
end
$$;
