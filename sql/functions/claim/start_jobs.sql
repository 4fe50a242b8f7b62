-- Purpose     Show claimed jobs as running. A worker of leasehold does so with the first renewal or, for short jobs,
--             not at all (their started_at comes with the outcome); this is for other languages.
-- Parameters  incarnation, job_ids, attempts: the identities
-- Returns     only the refused ones, with the reason
-- Errors      none
-- Tables      jobs
create or replace function leasehold.start_jobs(incarnation uuid, job_ids bigint[], attempts integer[])
returns table (job_id bigint, reason text) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set jit = off
set enable_seqscan = off set enable_bitmapscan = off set enable_nestloop = off as $$
#variable_conflict use_column
declare
    v_now timestamptz := leasehold.clock();
    v_ids bigint[];
begin
    with started as (
        update leasehold.jobs j set state = 'running', started_at = coalesce(j.started_at, v_now)
          from (select * from unnest(start_jobs.job_ids, start_jobs.attempts) s(id, attempt) order by s.id) s
         where j.id = s.id and j.attempt = s.attempt and j.incarnation = start_jobs.incarnation
           and j.id = any (start_jobs.job_ids)
        returning j.id
    )
    select array_agg(s.id) into v_ids from started s;
    if cardinality(v_ids) = cardinality(start_jobs.job_ids) then
        return;
    end if;
    return query
    select r.job_id, r.reason
      from (select array_agg(c.id) as ids, array_agg(c.attempt) as attempts
              from unnest(start_jobs.job_ids, start_jobs.attempts) c(id, attempt)
             where v_ids is null or c.id <> all (v_ids)) refused
     cross join lateral leasehold.name_refusals(start_jobs.incarnation, refused.ids, refused.attempts) r;
end
$$;
