-- Purpose     Find keys whose jobs wait although nobody holds the key, and promote them. It happens when an enqueue saw a
--             holder that was gone before the enqueue committed; the next poll of any worker or the reaper mends it.
-- Parameters  most_keys: how many waiting keys to look at
-- Returns     how many jobs were promoted
-- Errors      none
-- Tables      as promote_waiting_jobs
-- Callers     claim_jobs when it finds too little, the reaper
create or replace function leasehold.promote_stranded_jobs(most_keys integer default 100000) returns integer language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set enable_seqscan = off as $$
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
    select array_agg(w.key) into v_keys from waiting w
     where exists (select from leasehold.jobs j where j.key = w.key and j.state = 'waiting')
       and not exists (select from leasehold.jobs p where p.key = w.key and p.state = 'pending')
       and not exists (select from leasehold.jobs h where h.key = w.key and h.state in ('claimed', 'running'));
    if v_keys is null then
        return 0;
    end if;
    return leasehold.promote_waiting_jobs(v_keys);
end
$$;
