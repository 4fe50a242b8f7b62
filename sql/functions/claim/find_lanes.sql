-- Purpose     Find the lanes that a claim looks at: those with jobs, of the queues and kinds that the worker serves, by
--             skipping through the index from one to the next and over what it does not serve. It takes 128 of them; if
--             there are more, the first 128 and 128 behind a place chosen by chance among all jobs, so that every lane has
--             its turn and a claim costs the same with a hundred lanes as with a hundred thousand. It takes the locks of
--             their queues, which are shared where a queue has no limits.
-- Parameters  queues, kinds: served ones, null for all · dry_queues, dry_kinds: lanes to leave out
-- Returns     one row of arrays, null where there are no lanes. queues, kinds, classes: the lanes ·
--             opened: for each whether its queue has no limits and its lock is ours. are_more: not all lanes are among them ·
--             are_marked: there are marks, and list_marked_jobs finds the jobs of a lane
-- Errors      none
-- Tables      jobs, queues, limits, lane_marks (read), advisory locks of queues (only tried)
create or replace function leasehold.find_lanes(
    queues text[], kinds text[], dry_queues text[], dry_kinds text[],
    out lane_queues text[], out lane_kinds text[], out lane_classes integer[], out lane_opened boolean[], out are_more boolean, out are_marked boolean
) returns record language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    c_most     constant integer := 128;
    v_first    record;
begin
    are_marked := exists (select from leasehold.lane_marks);
    if are_marked then
        with lane as materialized (
            select l.queue_name as queue, l.kind, l.class from leasehold.list_marked_lanes(null, c_most + 1) l
        ), served as (
            select l.queue, l.kind, l.class, not exists (select from leasehold.limits m where m.queue = l.queue) as is_free
              from lane l
             where (find_lanes.queues is null or l.queue = any (find_lanes.queues)) and (find_lanes.kinds is null or l.kind = any (find_lanes.kinds))
               and not exists (select from leasehold.queues q where q.queue = l.queue and q.paused_at is not null)
               and not exists (select from unnest(find_lanes.dry_queues, find_lanes.dry_kinds) d(queue, kind) where d.queue = l.queue and d.kind = l.kind)
               and l.queue is not null and not (select coalesce(count(*) > c_most or bool_or(e.queue is null), false) from lane e)
        )
        select array_agg(s.queue), array_agg(s.kind), array_agg(s.class),
               array_agg(case when s.is_free then pg_try_advisory_xact_lock_shared(leasehold.open_lock(s.queue)) else false end),
               (select coalesce(count(*) > c_most or bool_or(e.queue is null), false) from lane e)
          into lane_queues, lane_kinds, lane_classes, lane_opened, are_more
          from served s;
        if are_more then
            select f.* into lane_queues, lane_kinds, lane_classes, lane_opened, are_more
              from leasehold.find_some_lanes(find_lanes.queues, find_lanes.kinds, find_lanes.dry_queues, find_lanes.dry_kinds) f;
        end if;
        return;
    end if;
    -- The usual case first, which needs no recursion: one lane, or none.
    select f.queue, f.kind, f.class,
           (select (j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group)) = (f.queue, f.kind, f.class)
             from leasehold.jobs j where j.state = 'pending'
             order by j.queue desc, j.kind desc, leasehold.lane_class(j.crashes, j.key_group) desc limit 1) as is_alone
      into v_first
      from (select j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group) as class from leasehold.jobs j where j.state = 'pending'
             order by j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group) limit 1) f;
    if v_first.queue is null then
        return;
    elsif v_first.is_alone and find_lanes.dry_queues = '{}' then
        if (find_lanes.queues is null or v_first.queue = any (find_lanes.queues)) and (find_lanes.kinds is null or v_first.kind = any (find_lanes.kinds))
           and not exists (select from leasehold.queues q where q.queue = v_first.queue and q.paused_at is not null) then
            lane_queues := array[v_first.queue];
            lane_kinds := array[v_first.kind];
            lane_classes := array[v_first.class];
            lane_opened := array[case when exists (select from leasehold.limits m where m.queue = v_first.queue) then false
                                      else pg_try_advisory_xact_lock_shared(leasehold.open_lock(v_first.queue)) end];
        end if;
        return;
    end if;
    with recursive lane(queue, kind, class, number) as (
        values (v_first.queue, v_first.kind, v_first.class, 1)
        union all
        select n.queue, n.kind, n.class, l.number + 1 from lane l
         cross join lateral (select j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group) as class from leasehold.jobs j
                              where j.state = 'pending'
                                and (j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group)) > (l.queue, l.kind, l.class)
                              order by j.queue, j.kind, leasehold.lane_class(j.crashes, j.key_group) limit 1) n
         where l.number <= c_most
    ), served as (
        select l.queue, l.kind, l.class, not exists (select from leasehold.limits m where m.queue = l.queue) as is_free
          from lane l
         where (find_lanes.queues is null or l.queue = any (find_lanes.queues)) and (find_lanes.kinds is null or l.kind = any (find_lanes.kinds))
           and not exists (select from leasehold.queues q where q.queue = l.queue and q.paused_at is not null)
           and not exists (select from unnest(find_lanes.dry_queues, find_lanes.dry_kinds) d(queue, kind) where d.queue = l.queue and d.kind = l.kind)
           and (select max(e.number) from lane e) <= c_most
    )
    select array_agg(s.queue), array_agg(s.kind), array_agg(s.class),
           array_agg(case when s.is_free then pg_try_advisory_xact_lock_shared(leasehold.open_lock(s.queue)) else false end),
           (select max(e.number) from lane e) > c_most
      into lane_queues, lane_kinds, lane_classes, lane_opened, are_more
      from served s;
    if are_more then
        select f.* into lane_queues, lane_kinds, lane_classes, lane_opened, are_more
          from leasehold.find_some_lanes(find_lanes.queues, find_lanes.kinds, find_lanes.dry_queues, find_lanes.dry_kinds) f;
    end if;
end
$$;
