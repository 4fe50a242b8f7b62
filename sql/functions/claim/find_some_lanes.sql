-- Purpose     Do the work of find_lanes where there are more than 128: find the first 128 that the worker serves, and 128
--             behind a place chosen by chance among all jobs. It skips over queues and kinds that the worker does not
--             serve, however many there are.
-- Parameters  queues, kinds, dry_queues, dry_kinds: as find_lanes
-- Returns     as find_lanes
-- Errors      none
-- Tables      jobs, queues, limits (read), advisory locks of queues (only tried)
create or replace function leasehold.find_some_lanes(
    queues text[], kinds text[], dry_queues text[], dry_kinds text[],
    out lane_queues text[], out lane_kinds text[], out lane_classes integer[], out lane_opened boolean[], out are_more boolean
) returns record language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    c_most  constant integer := 128;
    v_queue text := '';  -- the lanes from here on
    v_kind  text := '';
    v_lanes record;
begin
    loop
        -- Each step says where the next one begins. E'\x01' makes the next name of all: nothing lies between a name and the name
        -- with it.
        with recursive lane(queue, kind, class, is_open, number, to_queue, to_kind, to_class) as (
            select null::text collate "C", null::text collate "C", 0, false, 0, v_queue collate "C", v_kind collate "C", 0
            union all
            select n.queue, n.kind, n.class, o.is_open, l.number + o.is_open::integer, t.queue, t.kind, case when s.has_queue and s.has_kind then n.class + 1 else 0 end
              from lane l
             cross join lateral (select j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group) as class from leasehold.jobs j
                                  where j.state = 'pending'
                                    and (j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group)) >= (l.to_queue, l.to_kind, l.to_class)
                                  order by j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group) limit 1) n
             cross join lateral (select find_some_lanes.queues is null or n.queue = any (find_some_lanes.queues) as has_queue,
                                        find_some_lanes.kinds is null or n.kind = any (find_some_lanes.kinds) as has_kind) s
             cross join lateral (select case when s.has_queue and not s.has_kind
                                             then (select min(k.kind collate "C") from unnest(find_some_lanes.kinds) k(kind) where k.kind > n.kind) end as kind) k
             cross join lateral (
                   select case when not s.has_queue then (select min(q.queue collate "C") from unnest(find_some_lanes.queues) q(queue) where q.queue > n.queue)
                               when s.has_kind or k.kind is not null then n.queue
                               else n.queue || E'\x01' end as queue,
                          case when s.has_queue and s.has_kind then n.kind
                               else coalesce(k.kind, '') end as kind) t
             cross join lateral (
                   select s.has_queue and s.has_kind
                          and not exists (select from leasehold.queues q where q.queue = n.queue and q.paused_at is not null)
                          and not exists (select from unnest(find_some_lanes.dry_queues, find_some_lanes.dry_kinds) d(queue, kind)
                                           where d.queue = n.queue and d.kind = n.kind) as is_open) o
             where l.number < c_most
        ), served as (
            select l.queue, l.kind, l.class, not exists (select from leasehold.limits m where m.queue = l.queue) as is_free
              from lane l where l.is_open
        )
        select array_agg(s.queue) as queues, array_agg(s.kind) as kinds, array_agg(s.class) as classes,
               array_agg(case when s.is_free then pg_try_advisory_xact_lock_shared(leasehold.open_lock(s.queue)) else false end) as opened,
               count(*) >= c_most as are_more
          into v_lanes from served s;
        if v_queue > '' then
            lane_queues := lane_queues || v_lanes.queues;
            lane_kinds := lane_kinds || v_lanes.kinds;
            lane_classes := lane_classes || v_lanes.classes;
            lane_opened := lane_opened || v_lanes.opened;
            return;
        end if;
        lane_queues := v_lanes.queues;
        lane_kinds := v_lanes.kinds;
        lane_classes := v_lanes.classes;
        lane_opened := v_lanes.opened;
        are_more := v_lanes.are_more;
        exit when not are_more;
        select j.queue, j.kind into v_queue, v_kind
          from leasehold.jobs j
         where j.id >= (select e.first + floor(random() * (e.last - e.first + 1))::bigint
                          from (select (select f.id from leasehold.jobs f order by f.id limit 1) as first,
                                       (select t.id from leasehold.jobs t order by t.id desc limit 1) as last) e)
         order by j.id limit 1;
        exit when v_queue is null;
        -- What is among the first ones is not found twice.
        if (v_queue, v_kind) <= (lane_queues[cardinality(lane_queues)], lane_kinds[cardinality(lane_kinds)]) then
            v_queue := lane_queues[cardinality(lane_queues)];
            v_kind := lane_kinds[cardinality(lane_kinds)] || E'\x01';
        end if;
    end loop;
end
$$;
