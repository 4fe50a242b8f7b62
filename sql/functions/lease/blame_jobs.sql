-- Purpose     Judge which job is to blame when the leases of these jobs ran out. A job under which a process has died
--             before is a suspect, and a worker holds one suspect at most (claim_jobs ensures it). If there is a
--             suspect, it alone is charged. If there is none and a single job was held, that job is charged.
--             Otherwise nobody is charged and all become suspects; from then on they are claimed one to a worker, so
--             the next crash tells them apart. Leases of one dead worker that run out later belong to the same crash,
--             unless it has claimed jobs since.
-- Parameters  job_ids: jobs whose leases ran out, locked by the caller
-- Returns     for each job whether the attempt counts, and the crashes that it has to its name now
-- Errors      none
-- Tables      jobs (read), workers (update; a row that somebody else has is left as it is)
-- Source      quarantine of poison pills, as Sidekiq's super_fetch has it, made fair to the neighbours
create or replace function leasehold.blame_jobs(job_ids bigint[])
returns table (job_id bigint, is_charged boolean, crashes integer) language plpgsql
set search_path = leasehold, pg_catalog, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
    v_now timestamptz := leasehold.clock();
begin
    return query
    with lost as materialized (
        select j.id, j.incarnation, j.crashes, j.max_attempts from leasehold.jobs j where j.id = any (blame_jobs.job_ids)
    ), held as materialized (
        select h.incarnation, count(*) as jobs, max(h.claimed_at) as last_claim, min(h.id) filter (where h.crashes > 0) as suspect
          from leasehold.jobs h
         where h.state in ('claimed', 'running') and h.incarnation = any (array(select distinct l.incarnation from lost l))
         group by h.incarnation
    ), dead as materialized (
        select h.incarnation, h.jobs, coalesce(h.last_claim <= w.lost_at, false) as is_same_crash,
               coalesce(case when h.last_claim <= w.lost_at then w.blamed_job end, h.suspect) as blamed
          from held h left join leasehold.workers w on w.incarnation = h.incarnation
    ), noted as (
        update leasehold.workers w
           set lost_jobs = w.lost_jobs + (select count(*) from lost l where l.incarnation = w.incarnation), lost_at = v_now, blamed_job = d.blamed
          from dead d
         where w.incarnation = d.incarnation
           and w.incarnation = any (array(select f.incarnation from leasehold.workers f
                                           where f.incarnation = any (array(select d.incarnation from dead d)) for update skip locked))
    )
    select l.id, l.max_attempts = 1 or coalesce(d.blamed = l.id, d.jobs = 1 and not d.is_same_crash),
           case when d.blamed is null or d.blamed = l.id then coalesce(l.crashes, 0) + 1 else l.crashes end
      from lost l join dead d on d.incarnation = l.incarnation;
end
$$;
