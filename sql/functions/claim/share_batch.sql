-- Purpose     Divide a batch among lanes: how many of the best jobs of all lanes each one has. It looks without
--             locks.
-- Parameters  queues, kinds, classes, key_groups: the lanes, as limit_lanes returns them · counts: how many each may give at the
--             most · batch: how many are wanted · passed: places to leave out
-- Returns     the lanes that give something, with how many
-- Errors      none
-- Tables      jobs, lane_marks (read)
create or replace function leasehold.share_batch(
    queues text[], kinds text[], classes integer[], key_groups text[], counts integer[], batch integer, passed tid[]
) returns table (queue text, kind text, class integer, key_group text, jobs integer) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_is_marked boolean := exists (select from leasehold.lane_marks);
    v_depth integer := 2 + 5 * share_batch.batch / (4 * cardinality(share_batch.queues));
begin
    -- A few jobs of each lane decide, unless all that we saw of one were chosen and it has more: then we look deeper.
    loop
        return query
        with best as materialized (
            select l.position, count(*)::integer as jobs, min(l.jobs) as most
              from (select l.position, l.jobs
                      from unnest(share_batch.queues, share_batch.kinds, share_batch.classes, share_batch.key_groups, share_batch.counts)
                           with ordinality l(queue, kind, class, key_group, jobs, position)
                     cross join lateral (
                           (select j.priority, coalesce(j.pending_at, j.run_at) as since, j.id from leasehold.jobs j
                             where not v_is_marked and j.state = 'pending' and j.queue = l.queue and j.kind = l.kind
                               and leasehold.lane_class(j.crashes, j.key_group) = l.class
                               and (share_batch.passed is null or j.ctid <> all (share_batch.passed))
                             order by j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit least(l.jobs, v_depth))
                           union all
                           (select j.priority, coalesce(j.pending_at, j.run_at) as since, j.id from leasehold.jobs j
                             where j.state = 'pending' and j.queue = l.queue and j.kind = l.kind and j.key_group is not null and j.key_group = l.key_group and j.crashes is null
                               and (share_batch.passed is null or j.ctid <> all (share_batch.passed))
                             order by j.priority desc, coalesce(j.pending_at, j.run_at), j.id limit least(l.jobs, v_depth))
                           union all
                           (select m.priority, m.since, m.id
                              from leasehold.list_marked_jobs(l.queue, l.kind, l.class, least(l.jobs, v_depth), share_batch.passed, false) m
                             where v_is_marked and l.class is not null)) c
                     order by c.priority desc, c.since, c.id limit share_batch.batch) l
             group by l.position
        )
        select share_batch.queues[b.position], share_batch.kinds[b.position], share_batch.classes[b.position], share_batch.key_groups[b.position], b.jobs
          from best b
         where v_depth >= share_batch.batch or not exists (select from best d where d.jobs >= v_depth and d.most > v_depth);
        exit when found or v_depth >= share_batch.batch;
        v_depth := v_depth * 4;
    end loop;
end
$$;
