-- Purpose     List a page of the jobs of one chain, in their order.
-- Parameters  chain_id: id of the first job · after_position: only later ones (the last chain_position of the page before)
--             page_size: 1 to 1000
-- Returns     rows of all_jobs; none for what is no chain
-- Errors      LH001 page_size out of range
-- Tables      jobs, finished_jobs (read)
create or replace function leasehold.list_chain_jobs(chain_id bigint, after_position integer default -1, page_size integer default 50)
returns setof leasehold.all_jobs language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
begin
    if coalesce(list_chain_jobs.page_size, 0) not between 1 and 1000 then
        raise exception using errcode = 'LH001', message = format('page_size must be from 1 to 1000, not %s', coalesce(list_chain_jobs.page_size::text, 'null'));
    end if;
    return query
    select a.*
      from (select p.id
              from ((select j.id, 0 as chain_position from leasehold.jobs j where j.id = list_chain_jobs.chain_id and j.chain_id is null)
                    union all
                    (select j.id, j.chain_position from leasehold.jobs j where j.chain_id = list_chain_jobs.chain_id)
                    union all
                    (select f.id, 0 from leasehold.finished_jobs f where f.id = list_chain_jobs.chain_id and f.chain_id is null)
                    union all
                    (select f.id, f.chain_position from leasehold.finished_jobs f
                      where f.chain_id = list_chain_jobs.chain_id and f.chain_position > list_chain_jobs.after_position
                      order by f.chain_position limit list_chain_jobs.page_size)) p
             where p.chain_position > list_chain_jobs.after_position
             order by p.chain_position limit list_chain_jobs.page_size) page
     cross join lateral (select * from leasehold.all_jobs v where v.id = page.id limit 1) a
     order by a.chain_position;
end
$$;
