-- Purpose     Find the lanes that a claim looks at: those with jobs, of the queues and kinds that the worker serves, by
--             skipping through the index from one to the next and over what it does not serve. It takes 128 of them; if
--             there are more, the first 128 and 128 behind a place chosen by chance among all jobs, so that every lane has
--             its turn and a claim costs the same with a hundred lanes as with a hundred thousand. It takes the locks of
--             their queues, which are shared where a queue has no limits.
-- Parameters  queues, kinds: served ones, null for all · dry_queues, dry_kinds: lanes to leave out
-- Returns     one row of arrays, null where there are no lanes. queues, kinds, grouped (its jobs have key groups): the lanes ·
--             opened: for each whether its queue has no limits and its lock is ours
-- Errors      none
-- Tables      jobs, queues, limits (read), advisory locks of queues (only tried)
create or replace function leasehold.find_lanes(
    queues text[], kinds text[], dry_queues text[], dry_kinds text[],
    out lane_queues text[], out lane_kinds text[], out lane_grouped boolean[], out lane_opened boolean[]
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
        -- E'\x01' makes the next name of all: nothing lies between a name and the name with it.
        with recursive lane(queue, kind, is_grouped, before) as (
            (select j.queue, j.kind, (j.key_group is not null), 0 from leasehold.jobs j
              where j.state = 'pending' and (j.queue, j.kind, (j.key_group is not null)) >= (v_queue, v_kind, false)
              order by j.queue, j.kind, (j.key_group is not null) limit 1)
            union all
            select n.queue, n.kind, n.is_grouped, l.before + (s.has_queue and s.has_kind)::integer
              from lane l
             cross join lateral (select find_lanes.queues is null or l.queue = any (find_lanes.queues) as has_queue,
                                        find_lanes.kinds is null or l.kind = any (find_lanes.kinds) as has_kind) s
             cross join lateral (select case when s.has_queue and not s.has_kind
                                             then (select min(k.kind collate "C") from unnest(find_lanes.kinds) k(kind) where k.kind > l.kind) end as kind) k
             cross join lateral (
                   select j.queue, j.kind, (j.key_group is not null) as is_grouped from leasehold.jobs j
                    where j.state = 'pending'
                      and (j.queue, j.kind, (j.key_group is not null)) >= (
                          case when not s.has_queue then (select min(q.queue collate "C") from unnest(find_lanes.queues) q(queue) where q.queue > l.queue)
                               when s.has_kind or k.kind is not null then l.queue
                               else l.queue || E'\x01' end,
                          case when s.has_queue and s.has_kind then case when l.is_grouped then l.kind || E'\x01' else l.kind end
                               else coalesce(k.kind, '') end,
                          s.has_queue and s.has_kind and not l.is_grouped)
                    order by j.queue, j.kind, (j.key_group is not null) limit 1) n
             where l.before < c_most
        ), served as (
            select l.queue, l.kind, l.is_grouped, l.before, not exists (select from leasehold.limits m where m.queue = l.queue) as is_free
              from lane l
             where (find_lanes.queues is null or l.queue = any (find_lanes.queues)) and (find_lanes.kinds is null or l.kind = any (find_lanes.kinds))
               and not exists (select from leasehold.queues q where q.queue = l.queue and q.paused_at is not null)
               and not exists (select from unnest(find_lanes.dry_queues, find_lanes.dry_kinds) d(queue, kind) where d.queue = l.queue and d.kind = l.kind)
        )
        select array_agg(s.queue) as queues, array_agg(s.kind) as kinds, array_agg(s.is_grouped) as grouped,
               array_agg(case when s.is_free then pg_try_advisory_xact_lock_shared(leasehold.open_lock(s.queue)) else false end) as opened,
               (select max(l.before) from lane l) >= c_most as are_more
          into v_lanes from served s;
        if v_queue > '' then
            lane_queues := lane_queues || v_lanes.queues;
            lane_kinds := lane_kinds || v_lanes.kinds;
            lane_grouped := lane_grouped || v_lanes.grouped;
            lane_opened := lane_opened || v_lanes.opened;
            return;
        end if;
        lane_queues := v_lanes.queues;
        lane_kinds := v_lanes.kinds;
        lane_grouped := v_lanes.grouped;
        lane_opened := v_lanes.opened;
        exit when v_lanes.are_more is not true;
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
