-- Purpose     Tell whether one more job of a queue and key group may be claimed under the limits, and keep others from
--             claiming there until this transaction ends. Without limits the lock is shared, as claims have it.
-- Parameters  queue · key_group: null for none
-- Returns     whether it may; false as well where somebody else claims from a queue with limits right now, or has paused the
--             queue since the claim found its lanes
-- Errors      none
-- Tables      advisory locks of the queue (only tried), limits, queues, rate_buckets, jobs (read)
create or replace function leasehold.has_room(queue text, key_group text) returns boolean language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
begin
    if not exists (select from leasehold.limits l where l.queue = has_room.queue)
       and pg_try_advisory_xact_lock_shared(leasehold.open_lock(has_room.queue))
       and not exists (select from leasehold.limits l where l.queue = has_room.queue) then
        return not exists (select from leasehold.queues q where q.queue = has_room.queue and q.paused_at is not null);
    end if;
    if not pg_try_advisory_xact_lock(leasehold.queue_lock(has_room.queue)) then
        return false;
    end if;
    return not exists (select from leasehold.queues q where q.queue = has_room.queue and q.paused_at is not null) and not exists (
        select from (values (''), (has_room.key_group)) g(key_group)
         cross join lateral (select l.max_running, l.rate, l.burst from leasehold.limits l
                              where l.queue = has_room.queue and l.key_group in (g.key_group, case when g.key_group <> '' then '*' end)
                              order by l.key_group = '*' limit 1) m
          left join leasehold.rate_buckets b on b.queue = has_room.queue and b.key_group = g.key_group and m.rate is not null
         where m.max_running <= (select count(*) from leasehold.jobs j
                                  where j.queue = has_room.queue and (g.key_group = '' or j.key_group = g.key_group)
                                    and j.limited and j.incarnation is not null)
            or m.rate is not null and leasehold.bucket_level(b.tokens, b.filled_at, m.rate, m.burst, leasehold.clock()) < 0.999999);
end
$$;
