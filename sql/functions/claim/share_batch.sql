-- Purpose     Divide a batch among lanes: how many of the best jobs of all lanes each one has. It looks without
--             locks.
-- Parameters  queues, kinds, classes, key_groups: the lanes, as limit_lanes returns them · counts: how many each may give at the
--             most · batch: how many are wanted · passed: places to leave out
-- Returns     the lanes that give something, with how many
-- Errors      none
-- Tables      jobs (read)
create or replace function leasehold.share_batch(
    queues text[], kinds text[], classes integer[], key_groups text[], counts integer[], batch integer, passed tid[]
) returns table (queue text, kind text, class integer, key_group text, jobs integer) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
begin
    return query
    select best.queue, best.kind, best.class, best.key_group, count(*)::integer
      from (select l.queue, l.kind, l.class, l.key_group
              from unnest(share_batch.queues, share_batch.kinds, share_batch.classes, share_batch.key_groups, share_batch.counts)
                   l(queue, kind, class, key_group, jobs)
             cross join lateral (
                   (select j.priority, j.run_at, j.id from leasehold.jobs j
                     where j.state = 'pending' and j.queue = l.queue and j.kind = l.kind and coalesce((j.crashes > 1)::integer + 2, (j.key_group is not null)::integer) = l.class
                       and (share_batch.passed is null or j.ctid <> all (share_batch.passed))
                     order by j.priority desc, j.run_at, j.id limit l.jobs)
                   union all
                   (select j.priority, j.run_at, j.id from leasehold.jobs j
                     where j.state = 'pending' and j.queue = l.queue and j.kind = l.kind and j.key_group is not null and j.key_group = l.key_group and j.crashes is null
                       and (share_batch.passed is null or j.ctid <> all (share_batch.passed))
                     order by j.priority desc, j.run_at, j.id limit l.jobs)) c
             order by c.priority desc, c.run_at, c.id limit share_batch.batch) best
     group by best.queue, best.kind, best.class, best.key_group;
end
$$;
