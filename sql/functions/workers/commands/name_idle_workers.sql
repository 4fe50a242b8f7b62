-- Purpose     Decide which idle workers are woken for what is pending in a queue: those first that went idle last, since
--             they are known to live, and their caches are warm.
-- Parameters  queue: name · at: now · awake_since: who went idle after this looks again by himself; null: nobody does
-- Returns     wake:QUEUE, which every worker of the queue heeds; or ring:NAMES:QUEUE, which only those heed whose incarnations
--             begin so (eight characters each, with commas between); null: nobody needs to be woken
-- Errors      none
-- Tables      queues, limits, workers (read), jobs (read: an index entry for each of 50 kinds, some for its jobs, of held ones
--             those that a limit counts)
create or replace function leasehold.name_idle_workers(queue text, at timestamptz, awake_since timestamptz) returns text language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    c_most_named constant integer := 60;  -- a listener reads the first 1,000 bytes of a notice
    c_most_kinds constant integer := 50;
    v_most   integer := (select l.max_running from leasehold.limits l where l.queue = name_idle_workers.queue and l.key_group = '');
    v_room   bigint := c_most_named + 1;
    v_idle   uuid[];
    v_since  timestamptz[];
    v_sorts  bigint[];
    v_kind   text := '';
    v_kinds  text[] := '{}';
    v_counts bigint[] := '{}';
    v_sort   bigint;
    v_jobs   bigint;
    v_like   uuid[];
    v_times  timestamptz[];
    v_named  uuid[] := '{}';
begin
    if exists (select from leasehold.queues q where q.queue = name_idle_workers.queue and q.paused_at is not null) then
        return null;
    end if;
    if v_most is not null then
        v_room := least(v_room, v_most - (select count(*) from (select from leasehold.jobs j
                                           where j.queue = name_idle_workers.queue and j.limited and j.incarnation is not null limit v_most) h));
        if v_room <= 0 then
            return null;
        end if;
    end if;
    select array_agg(w.incarnation order by w.idle_since desc nulls last), array_agg(w.idle_since order by w.idle_since desc nulls last),
           array_agg(w.kinds_key order by w.idle_since desc nulls last)
      into v_idle, v_since, v_sorts
      from leasehold.workers w
     where w.stopped_at is null and w.idle and w.listening and w.state = 'ready' and coalesce(w.backoff_until <= name_idle_workers.at, true)
       and w.heartbeat_at > name_idle_workers.at - make_interval(secs => least(300, coalesce(2.5 * w.heartbeat_seconds, 300)))
       and (w.queues = '{}' or name_idle_workers.queue = any (w.queues));
    if v_idle is null then
        return null;
    end if;

    -- What is pending: of 50 kinds at the most, and of each no more than can be named.
    if exists (select from leasehold.lane_marks) then
        select coalesce(array_agg(k.kind), '{}'), coalesce(array_agg(k.jobs), '{}') into v_kinds, v_counts
          from (select l.kind, sum((select count(*) from leasehold.list_marked_jobs(l.queue_name, l.kind, l.class, v_room::integer, null, false))) as jobs
                  from leasehold.list_marked_lanes(name_idle_workers.queue, c_most_kinds) l
                 where l.queue_name is not null group by l.kind order by l.kind) k;
        v_kind := null;
    end if;
    while v_kind is not null and cardinality(v_kinds) < c_most_kinds loop
        v_kind := (select j.kind from leasehold.jobs j
                    where j.state = 'pending' and j.queue = name_idle_workers.queue and j.kind > v_kind order by j.kind limit 1);
        exit when v_kind is null;
        v_kinds := v_kinds || v_kind;
        v_counts := v_counts || (select count(*) from (select from leasehold.jobs j
                      where j.state = 'pending' and j.queue = name_idle_workers.queue and j.kind = v_kind limit v_room) f);
    end loop;

    -- Workers of one deployment are alike: what they can take is asked once for each sort, because a list of kinds may be long.
    -- Where nothing is pending, something will be before long, and somebody has to know when.
    for v_sort in select distinct s.sort from unnest(v_sorts) s(sort) order by 1 loop
        v_jobs := case when v_kinds = '{}' then 1 when cardinality(v_kinds) = c_most_kinds then v_room
                       else (select least(v_room, coalesce(sum(p.jobs), 0)) from leasehold.workers w cross join unnest(v_kinds, v_counts) p(kind, jobs)
                              where w.incarnation = v_idle[array_position(v_sorts, v_sort)] and (w.kinds = '{}' or p.kind = any (w.kinds))) end;
        continue when v_jobs = 0;
        if v_sort = all (v_sorts) then
            v_like := v_idle;
            v_times := v_since;
        else
            select array_agg(i.incarnation order by i.position), array_agg(i.since order by i.position) into v_like, v_times
              from unnest(v_idle, v_since, v_sorts) with ordinality i(incarnation, since, sort, position) where i.sort = v_sort;
        end if;
        continue when v_times[least(v_jobs, cardinality(v_like))] > name_idle_workers.awake_since;
        v_named := v_named || v_like[1 : v_jobs + 1];
    end loop;
    return case when v_named = '{}' then null
                when cardinality(v_named) >= least(c_most_named, cardinality(v_idle)) then 'wake:' || name_idle_workers.queue
                else 'ring:' || (select string_agg(left(n.incarnation::text, 8), ',') from unnest(v_named) n(incarnation)) || ':' || name_idle_workers.queue end;
end
$$;
