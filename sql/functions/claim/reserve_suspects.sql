-- Purpose     Keep suspects apart: jobs under which a process has died before, or stood still. A worker holds one of them, so
--             that the next crash tells which of them is to blame. If more are pending than twice its slots, it holds
--             as many as half its slots, and the next crash leaves few enough; but a suspect under which two processes
--             have died is held alone. What it reserves for a claim is held and counted by limits at once; the claim
--             does the rest.
-- Parameters  incarnation: of the worker that claims · queues, kinds, classes: the lanes, of which those of suspects matter
--             batch: how many jobs the claim wants · is_pressed: take suspects although the claim could be filled with better
--             jobs
-- Returns     their places in the table
-- Errors      none
-- Tables      workers (read), jobs (rows locked, locked ones skipped), advisory locks of queues and keys (only tried), limits,
--             rate_buckets (read, as has_room)
create or replace function leasehold.reserve_suspects(
    incarnation uuid, queues text[], kinds text[], classes integer[], batch integer, is_pressed boolean
) returns tid[] language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_now    timestamptz := leasehold.clock();
    v_slots  integer := coalesce((select w.slots from leasehold.workers w where w.incarnation = reserve_suspects.incarnation), 1);
    v_held   record;
    v_room   integer := 1;
    v_worst  leasehold.jobs;
    v_place  tid;
    v_job    record;
    v_places tid[] := '{}';
    v_queues text[] := '{}';
begin
    select count(*) as jobs, coalesce(max(j.crashes), 0) as crashes into v_held
      from leasehold.jobs j where j.incarnation = reserve_suspects.incarnation and j.crashes is not null;
    if v_held.crashes > 1 or v_held.jobs >= greatest(1, v_slots / 2) then
        return v_places;
    end if;
    if (select count(*) from (select from unnest(reserve_suspects.queues, reserve_suspects.kinds, reserve_suspects.classes) l(queue, kind, class)
                               cross join lateral (select from leasehold.jobs j
                                                    where j.state = 'pending' and j.queue = l.queue and j.kind = l.kind
                                                      and leasehold.lane_class(j.crashes, j.key_group) = l.class
                                                    limit 2 * v_slots + 1) s
                               where l.class > 1 limit 2 * v_slots + 1) m) > 2 * v_slots then
        v_room := greatest(1, v_slots / 2);
    end if;
    v_room := least(v_room - v_held.jobs, reserve_suspects.batch);
    if v_room <= 0 then
        return v_places;
    end if;
    if not reserve_suspects.is_pressed then
        select b.priority, b.since, b.id into v_worst.priority, v_worst.run_at, v_worst.id
          from unnest(reserve_suspects.queues, reserve_suspects.kinds, reserve_suspects.classes) l(queue, kind, class)
         cross join lateral (select j.priority, coalesce(j.pending_at, j.run_at) as since, j.id from leasehold.jobs j
                              where j.state = 'pending' and j.queue = l.queue and j.kind = l.kind
                                and leasehold.lane_class(j.crashes, j.key_group) = l.class
                              order by j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit reserve_suspects.batch) b
         where l.class < 2
         order by b.priority desc, b.since, b.id offset reserve_suspects.batch - 1 limit 1;
    end if;

    -- A few more than there is room for, because some may be locked, or kept back by a limit or a key.
    for v_job in
        select c.*
          from unnest(reserve_suspects.queues, reserve_suspects.kinds, reserve_suspects.classes) l(queue, kind, class)
         cross join lateral (select j.ctid as place, j.priority, coalesce(j.pending_at, j.run_at) as since, j.id, j.queue, j.key, j.key_group, j.crashes from leasehold.jobs j
                              where j.state = 'pending' and j.queue = l.queue and j.kind = l.kind
                                and leasehold.lane_class(j.crashes, j.key_group) = l.class
                              order by j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit v_room + 20) c
         where l.class > 1
           and (v_worst.id is null or c.priority > v_worst.priority
                or c.priority = v_worst.priority and (c.since, c.id) < (v_worst.run_at, v_worst.id))
         order by c.priority desc, c.since, c.id limit v_room + 20
    loop
        continue when v_job.crashes > 1 and v_held.jobs + cardinality(v_places) > 0;
        select j.ctid into v_place from leasehold.jobs j where j.ctid = v_job.place and j.state = 'pending' for update skip locked;
        continue when v_place is null or not leasehold.has_room(v_job.queue, v_job.key_group);
        -- The claim spends its token when it starts it, so no more than one is sure to have one.
        continue when v_job.queue = any (v_queues)
                      and exists (select from leasehold.limits m where m.queue = v_job.queue and m.rate is not null);
        if v_job.key is not null then
            continue when cardinality((select d.free from leasehold.demote_keyed_jobs(array[v_place], array[v_job.key]) d)) = 0;
        end if;
        update leasehold.jobs j
           set state = 'claimed', claimed_at = v_now, lease_expires_at = v_now, incarnation = reserve_suspects.incarnation,
               limited = nullif(exists (select from leasehold.limits m where m.queue = v_job.queue), false)
         where j.ctid = v_place
        returning j.ctid into v_place;
        v_places := v_places || v_place;
        v_queues := v_queues || v_job.queue;
        exit when v_job.crashes > 1 or cardinality(v_places) = v_room;
    end loop;
    return v_places;
end
$$;
