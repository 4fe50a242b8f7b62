-- Purpose     Find keys whose jobs wait although nobody holds the key, and promote them. It happens when an enqueue
--             saw a holder that was gone before the enqueue committed; the next poll of any worker or the reaper
--             repairs it. A key whose lock is taken is left to its holder.
-- Parameters  most_lanes: how many lanes (key, queue and kind) with open jobs to look at; at most 1000 keys are promoted in
--             one call
-- Returns     how many jobs were promoted
-- Errors      none
-- Tables      advisory locks of the keys (only tried), as promote_waiting_jobs
create or replace function leasehold.promote_stranded_jobs(most_lanes integer default 100000) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_keys text[];
begin
    with recursive lane(key, queue, kind, position) as (
        (select j.key, j.queue, j.kind, 1 from leasehold.jobs j
          where j.key is not null and j.state in ('pending', 'waiting') order by j.key, j.queue, j.kind limit 1)
        union all
        select n.key, n.queue, n.kind, w.position + 1 from lane w
         cross join lateral (select j.key, j.queue, j.kind from leasehold.jobs j
                              where j.key is not null and (j.key, j.queue, j.kind) > (w.key, w.queue, w.kind) and j.state in ('pending', 'waiting')
                              order by j.key, j.queue, j.kind limit 1) n
         where w.position < promote_stranded_jobs.most_lanes
    )
    select array_agg(s.key) into v_keys
      from (select distinct w.key from lane w
             where (select j.id from leasehold.jobs j
                     where j.key = w.key and j.queue = w.queue and j.kind = w.kind and j.state = 'waiting' limit 1) is not null
               and (select p.id from leasehold.jobs p
                     where p.key = w.key and p.queue = w.queue and p.kind = w.kind and p.state in ('pending', 'waiting') and p.state < 'waiting' limit 1) is null
               and (select h.id from leasehold.jobs h where h.key = w.key and h.incarnation is not null limit 1) is null
             limit 1000) s
     where pg_try_advisory_xact_lock(leasehold.key_lock(s.key));
    if v_keys is null then
        return 0;
    end if;
    return leasehold.promote_waiting_jobs(v_keys);
end
$$;
