-- Purpose     Tell how many jobs a claim may take from a queue with limits, and from which lanes. Held jobs are
--             counted from the rows themselves. If groups have limits, they take turns: among jobs of one priority
--             the group that holds least is first, then the one whose turn is next. It looks at a few hundred groups
--             at most, from that turn on; only if more groups of a queue have pending jobs does priority hold among
--             fewer than all.
-- Parameters  queue · kinds, classes: its lanes · batch: how many are wanted · passed: places to leave out
-- Returns     as limit_lanes
-- Errors      none
-- Tables      limits, rate_buckets, jobs (read), limit_turns; the caller has the lock of the queue
create or replace function leasehold.share_limit(queue text, kinds text[], classes integer[], batch integer, passed tid[])
returns table (kind text, class integer, key_group text, jobs integer) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_is_marked boolean := exists (select from leasehold.lane_marks);
    v_room   integer := share_limit.batch;
    v_limit  leasehold.limits;
    v_bucket leasehold.rate_buckets;
    v_kinds  text[] := share_limit.kinds;
    v_classes integer[] := share_limit.classes;
    v_groups text[];
    v_held   integer[];
    v_rooms  integer[];
    v_fair   boolean := exists (select from leasehold.limits l where l.queue = share_limit.queue and l.key_group > '');
    v_last   text;
    v_depth  integer;
    v_chosen record;
begin
    select l.* into v_limit from leasehold.limits l where l.queue = share_limit.queue and l.key_group = '';
    if v_limit.max_running is not null then
        v_room := least(v_room, v_limit.max_running - (select count(*) from leasehold.jobs j
                                                        where j.queue = share_limit.queue and j.limited and j.incarnation is not null));
    end if;
    if v_limit.rate is not null then
        select b.* into v_bucket from leasehold.rate_buckets b where b.queue = share_limit.queue and b.key_group = '';
        v_room := least(v_room, floor(leasehold.bucket_level(v_bucket.tokens, v_bucket.filled_at, v_limit.rate, v_limit.burst, leasehold.clock()) + 0.000001));
    end if;
    if v_room <= 0 then
        return;
    end if;
    if v_fair then
        select array_agg(g.kind order by g.position), array_agg(g.class order by g.position), array_agg(g.key_group order by g.position),
               array_agg(g.held order by g.position), array_agg(g.room order by g.position), max(g.last)
          into v_kinds, v_classes, v_groups, v_held, v_rooms, v_last
          from leasehold.list_open_groups(share_limit.queue, share_limit.kinds, share_limit.classes, v_room) g;
    elsif cardinality(v_kinds) = 1 then
        return query select v_kinds[1], v_classes[1], null::text, v_room;
        return;
    end if;

    -- A few jobs of each lane decide, unless all that we saw of one were chosen: then we look deeper.
    v_depth := 2 + 5 * v_room / (4 * greatest(1, cardinality(v_kinds)));
    loop
        with candidate as materialized (
            select l.position, l.held, l.key_group, least(coalesce(l.room, v_room), v_room) as room, c.priority, c.since, c.id
              from unnest(v_kinds, v_classes, v_groups, v_held, v_rooms) with ordinality l(kind, class, key_group, held, room, position)
             cross join lateral (
                   (select j.priority, coalesce(j.pending_at, j.run_at) as since, j.id from leasehold.jobs j
                     where not v_is_marked and j.state = 'pending' and j.queue = share_limit.queue and j.kind = l.kind
                       and leasehold.lane_class(j.crashes, j.key_group) = l.class
                       and (share_limit.passed is null or j.ctid <> all (share_limit.passed))
                     order by j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit least(coalesce(l.room, v_room), v_depth))
                   union all
                   (select j.priority, coalesce(j.pending_at, j.run_at) as since, j.id from leasehold.jobs j
                     where j.state = 'pending' and j.queue = share_limit.queue and j.kind = l.kind and j.key_group is not null and j.key_group = l.key_group and j.crashes is null
                       and (share_limit.passed is null or j.ctid <> all (share_limit.passed))
                     order by j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit least(coalesce(l.room, v_room), v_depth))
                   union all
                   (select m.priority, m.since, m.id
                      from leasehold.list_marked_jobs(share_limit.queue, l.kind, l.class, least(coalesce(l.room, v_room), v_depth), share_limit.passed, false) m
                     where v_is_marked and l.class is not null)) c
        ), ranked as (
            select c.*, case when v_fair then row_number() over (partition by c.key_group order by c.priority desc, c.since, c.id) end as nth
              from candidate c
        ), chosen as (
            select r.position, r.room,
                   row_number() over (order by r.priority desc, r.held + r.nth, case when v_fair then r.position end, r.since, r.id) as rank
              from ranked r
             where r.nth <= r.room or not v_fair
             order by rank limit v_room
        ), lane as (
            select c.position, count(*)::integer as jobs, min(c.room) as room, max(c.rank) as last from chosen c group by c.position
        )
        select array_agg(l.position) as positions, array_agg(l.jobs) as jobs, bool_or(l.jobs >= v_depth and l.room > v_depth) as is_shallow,
               (array_agg(l.position order by l.last desc))[1] as last
          into v_chosen
          from lane l;
        exit when v_depth >= v_room or not coalesce(v_chosen.is_shallow, false);
        v_depth := v_depth * 4;
    end loop;

    v_last := case when v_chosen.last is not null then coalesce(v_groups[v_chosen.last], '') else v_last end;
    if v_fair and v_last is not null then
        insert into leasehold.limit_turns as t (queue, key_group) values (share_limit.queue, v_last)
        on conflict (queue) do update set key_group = excluded.key_group where t.key_group <> excluded.key_group;
    end if;
    return query select v_kinds[c.position], v_classes[c.position], v_groups[c.position], c.jobs from unnest(v_chosen.positions, v_chosen.jobs) c(position, jobs);
end
$$;
