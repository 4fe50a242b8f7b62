-- Purpose     Find keys whose jobs wait although nobody holds the key, and promote them. It happens when an enqueue saw a
--             holder that was gone before the enqueue committed; the next poll of any worker or the reaper mends it.
--             A key whose lock is taken is left to whoever has it.
-- Parameters  most_keys: how many waiting keys to look at; at most 1000 are promoted in one call
-- Returns     how many jobs were promoted
-- Errors      none
-- Tables      advisory locks of the keys (only tried), as promote_waiting_jobs
-- Callers     claim_jobs when it finds too little, the reaper
create or replace function leasehold.promote_stranded_jobs(most_keys integer default 100000) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_keys text[];
begin
    with recursive waiting(key, position) as (
        (select j.key, 1 from leasehold.jobs j
          where j.key is not null and j.state in ('pending', 'waiting') order by j.key limit 1)
        union all
        select n.key, w.position + 1 from waiting w
         cross join lateral (select j.key from leasehold.jobs j
                              where j.key > w.key and j.state in ('pending', 'waiting') order by j.key limit 1) n
         where w.position < promote_stranded_jobs.most_keys
    )
    select array_agg(s.key) into v_keys
      from (select w.key from waiting w
             where (select j.id from leasehold.jobs j where j.key = w.key and j.state = 'waiting' limit 1) is not null
               and (select p.id from leasehold.jobs p where p.key = w.key and p.state in ('pending', 'waiting') and p.state < 'waiting' limit 1) is null
               and (select h.id from leasehold.jobs h where h.key = w.key and h.incarnation is not null limit 1) is null
             limit 1000) s
     where pg_try_advisory_xact_lock(leasehold.key_lock(s.key));
    if v_keys is null then
        return 0;
    end if;
    return leasehold.promote_waiting_jobs(v_keys);
end
$$;
