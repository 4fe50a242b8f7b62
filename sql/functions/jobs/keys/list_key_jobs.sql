-- Purpose     List the jobs of a key that run, or may run as soon as the key is free: the holder first, then in the
--             order in which they will be claimed. Scheduled and blocked jobs are left out.
-- Parameters  key: which · page_size: 1 to 100
-- Returns     rows of all_jobs
-- Errors      LH001 page_size out of range
-- Tables      jobs (read, by the indexes of keys)
create or replace function leasehold.list_key_jobs(key text, page_size integer default 20) returns setof leasehold.all_jobs language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off as $$
#variable_conflict use_column
begin
    if coalesce(list_key_jobs.page_size, 0) not between 1 and 100 then
        raise exception using errcode = 'LH001', message = format('page_size must be from 1 to 100, not %s', coalesce(list_key_jobs.page_size::text, 'null'));
    end if;
    return query
    with active as (
        select j.id from leasehold.jobs j where j.key = list_key_jobs.key and j.incarnation is not null
        union all
        (select j.id from leasehold.jobs j
          where j.key is not null and j.key = list_key_jobs.key and j.state in ('pending', 'waiting')
          order by j.priority desc, j.run_at, j.id limit list_key_jobs.page_size)
    )
    select a.* from leasehold.all_jobs a
     where a.id in (select id from active) and a.finished_at is null
     order by a.incarnation is null, a.priority desc, a.run_at, a.id limit list_key_jobs.page_size;
end
$$;
