-- Purpose     List a page of the jobs that wait for a chain now, by id. They still wait when the chain has failed or
--             was cancelled.
-- Parameters  chain_id: id of the first job · after_id: only later ones (the last id of the page before) · page_size: 1 to 1000
-- Returns     rows of all_jobs
-- Errors      LH001 page_size out of range
-- Tables      job_blockers, jobs (read)
create or replace function leasehold.list_blocked_jobs(chain_id bigint, after_id bigint default 0, page_size integer default 50)
returns setof leasehold.all_jobs language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
begin
    if coalesce(list_blocked_jobs.page_size, 0) not between 1 and 1000 then
        raise exception using errcode = 'LH001', message = format('page_size must be from 1 to 1000, not %s', coalesce(list_blocked_jobs.page_size::text, 'null'));
    end if;
    return query
    select a.*
      from (select distinct b.job_id from leasehold.job_blockers b
              join leasehold.jobs j on j.id = b.job_id and j.state = 'blocked'
             where b.chain_id = list_blocked_jobs.chain_id and b.closed_at is null and b.job_id > list_blocked_jobs.after_id
             order by b.job_id limit list_blocked_jobs.page_size) page
     cross join lateral (select * from leasehold.all_jobs v where v.id = page.job_id limit 1) a
     order by a.id;
end
$$;
