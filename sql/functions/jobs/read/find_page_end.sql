-- Purpose     Find where a look at a given number of jobs ends. A page that finds few matches among many jobs goes on
--             there.
-- Parameters  state, key: count only such · before_id: only older ones · jobs: how many to look at, 1 to 1000000
-- Returns     the id of the last job of the look; null where all there are can be looked at
-- Errors      LH001 jobs out of range
-- Tables      jobs, finished_jobs (read)
create or replace function leasehold.find_page_end(
    state text default null, key text default null, before_id bigint default null, jobs integer default 20000
) returns bigint language plpgsql stable
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off
set plan_cache_mode = force_custom_plan as $$
#variable_conflict use_column
begin
    if coalesce(find_page_end.jobs, 0) not between 1 and 1000000 then
        raise exception using errcode = 'LH001', message = format('jobs must be from 1 to 1000000, not %s', coalesce(find_page_end.jobs::text, 'null'));
    end if;
    return (select a.id from leasehold.all_jobs a
             where (find_page_end.state is null or a.state = find_page_end.state)
               and (find_page_end.key is null or a.key = find_page_end.key)
               and (find_page_end.before_id is null or a.id < find_page_end.before_id)
             order by a.id desc offset find_page_end.jobs - 1 limit 1);
end
$$;
